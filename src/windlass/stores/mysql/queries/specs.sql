-- The specs of picked jobs. Arguments: refs. Returns: number, spec.
SELECT number, spec FROM windlass_jobs FORCE INDEX (PRIMARY) WHERE number IN :refs
