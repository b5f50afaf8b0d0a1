"""The messages of the gRPC API, for both of its sides. Made of `server/grpc/windlass.proto`."""
