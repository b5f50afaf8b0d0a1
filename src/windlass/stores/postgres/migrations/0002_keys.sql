-- Keys of the API. A new table, which nobody who does not know it needs.
-- compatible: yes

CREATE TABLE windlass_keys (
  id     text  COLLATE "C" PRIMARY KEY,
  record bytea NOT NULL                         -- MessagePack
);
