-- The id of the job that has ended, as edges begin with it.
local function parent_of(ending)
  local _, _, length, at = struct.unpack('>I8BH', ending)
  return sized(string.sub(ending, at, at + length - 1))
end

-- The edges of an ending, at most so many: those that there were when the job ended.
local function edges_of(ending, most)
  local parent = parent_of(ending)
  local beyond = '(' .. parent .. struct.pack('>I8', struct.unpack('>I8', ending) + 1)
  return redis.call('ZRANGEBYLEX', DEPENDENTS, '[' .. parent, beyond, 'LIMIT', 0, most)
end
