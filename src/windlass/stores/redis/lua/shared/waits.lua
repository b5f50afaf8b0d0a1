-- Who waits for whom, from both ends. A wait is the truth and stands in the shard of the dependent;
-- an edge, in the shard of the parent, only says where to look when the parent has ended:
--   WAITS       dependent (length H before it), number I8, where the edge is B (HERE for this very
--               shard), parent
--   DEPENDENTS  parent (length H before it), number I8, shard of the dependent B, how it waits B
--               (RUNS_ANYWAY, WAITS_FOR_ONE), dependent (length H before it), its queue
-- An edge is written before its wait, and goes after it. Numbers grow, and none is given again: an
-- edge that is left over closes no later wait. All have the score 0, so they sort as bytes do.
-- define: MOST_FORGOTTEN 100

-- All members that begin with this: what follows is a number, whose first byte is small.
local function members(key, prefix, most)
  return redis.call('ZRANGEBYLEX', key, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, most)
end

local function waits_of(id) return members(WAITS, sized(id), -1) end

-- Nobody has this job, but others wait for it: one that was moved away, or did not come yet. To all
-- scripts but those that take jobs in it is not there.
local function is_ghost(record) return record and string.byte(record, 17) == GHOST end

local function drop_ghost(id)
  if #members(DEPENDENTS, sized(id), 1) == 0 and is_ghost(redis.call('HGET', JOBS, id)) then
    redis.call('HDEL', JOBS, id)
  end
end

-- A dependent that waits no longer. Edges that are elsewhere, or too many for one step, stay until
-- their parents end, and do nothing then.
local function forget_waits(id)
  local own = sized(id)
  local found = members(WAITS, own, MOST_FORGOTTEN)
  for _, member in ipairs(found) do
    local number, where, at = struct.unpack('>I8B', member, #own + 1)
    if where == HERE then
      local parent = string.sub(member, at)
      local edge = sized(parent) .. struct.pack('>I8', number)
      redis.call('ZREMRANGEBYLEX', DEPENDENTS, '[' .. edge, '(' .. edge .. '\255')
      drop_ghost(parent)
    end
  end
  if #found > 0 then redis.call('ZREMRANGEBYLEX', WAITS, '[' .. own, '(' .. own .. '\255') end
end
