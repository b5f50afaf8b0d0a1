-- Keys of the API. A new table, which nobody who does not know it needs.
-- compatible: yes

CREATE TABLE windlass_keys (
  id     TEXT PRIMARY KEY,
  record BLOB NOT NULL                      -- MessagePack
) WITHOUT ROWID;
