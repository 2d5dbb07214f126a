-- Decides about a change and makes it: `evaluate.rs` in Lua, with the same answers.
--
-- KEYS: the states of the slot's sets; then marks and counters of each set of the change.
-- ARGV: "apply" or "probe", now, grace; the numbers of sets, marks, absent marks and counts;
--       then name | set, key, value | set, key | set, key, add, limit.
-- Sets are numbered from 1. A value is empty, or time (8 bytes) and operation. Counts are 8 bytes.
local at = 0
local function take()
    at = at + 1
    return ARGV[at]
end
local function number()
    return tonumber(take())
end
local function marks_of(set)
    return KEYS[2 * set]
end
local function counts_of(set)
    return KEYS[2 * set + 1]
end
-- Numbers of Lua are exact up to 2^53 only: a count is two halves.
local function halves(bytes)
    return struct.unpack(">I4I4", bytes)
end

local mode, now, grace = take(), number(), number()
local sets, marks, absents, counts = number(), number(), number(), number()

local unknown
for set = 1, sets do
    local name = take()
    local state = redis.call("HGET", KEYS[1], name)
    if state == "closed" then
        return "closed"
    elseif not state then
        unknown = set
    end
end
if unknown and mode == "apply" then
    return "unknown"
end

local function is_repetition(made, value)
    if #value == 0 or #made == 0 or string.sub(made, 9) ~= string.sub(value, 9) then
        return false
    end
    local high, low = halves(string.sub(made, 1, 8))
    return math.abs(now - (high * 4294967296 + low)) <= grace
end

local seen, repeated, new_marks = {}, 0, {}
for index = 1, marks do
    local set, key, value = number(), take(), take()
    local place = set .. ":" .. key
    if seen[place] then
        return "spent"
    end
    seen[place] = true
    local made = redis.call("HGET", marks_of(set), key)
    if made then
        if not is_repetition(made, value) then
            return "spent"
        end
        repeated = repeated + 1
    end
    new_marks[index] = {marks_of(set), key, value}
end
if repeated > 0 then
    return repeated == marks and "repeated" or "spent"
end

for _ = 1, absents do
    local set, key = number(), take()
    if redis.call("HEXISTS", marks_of(set), key) == 1 then
        return "present"
    end
end

local totals, order = {}, {}
for _ = 1, counts do
    local set, key, add, limit = number(), take(), take(), take()
    local place = set .. ":" .. key
    if not totals[place] then
        local before = redis.call("HGET", counts_of(set), key) or string.rep("\0", 8)
        totals[place] = {counts_of(set), key, halves(before)}
        order[#order + 1] = place
    end
    local total = totals[place]
    local add_high, add_low = halves(add)
    local limit_high, limit_low = halves(limit)
    local high, low = total[3] + add_high, total[4] + add_low
    if low >= 4294967296 then
        high, low = high + 1, low - 4294967296
    end
    if high > limit_high or (high == limit_high and low > limit_low) then
        return "limit"
    end
    total[3], total[4] = high, low
end

if mode == "apply" then
    for _, mark in ipairs(new_marks) do
        redis.call("HSET", mark[1], mark[2], mark[3])
    end
    for _, place in ipairs(order) do
        local total = totals[place]
        redis.call("HSET", total[1], total[2], struct.pack(">I4I4", total[3], total[4]))
    end
end
return "done"
