"""The store on Redis or Valkey: single server, Sentinel or Cluster."""
