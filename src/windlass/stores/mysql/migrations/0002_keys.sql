-- Keys of the API. A new table, which nobody who does not know it needs.
-- compatible: yes

CREATE TABLE IF NOT EXISTS windlass_keys (
  id     VARBINARY(512) NOT NULL,
  record LONGBLOB NOT NULL,                  -- MessagePack
  PRIMARY KEY (id)
) ENGINE = InnoDB;
