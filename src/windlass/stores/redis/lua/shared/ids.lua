-- Ids as they stand in members and listings.
local function sized(id) return struct.pack('>H', #id) .. id end

-- define: UUID '%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x'
-- Blocked jobs are listed by their ids, as people read them (see record.py).
local function readable(id)
  if string.byte(id) >= 32 then return id end
  return string.format(UUID, string.byte(id, 1, 16))
end
