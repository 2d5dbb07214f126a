-- Notes a set in the registry, with the later end. A closed set stays closed.
--
-- KEYS: the registry.
-- ARGV: the name, the end, "open" or "closed".
local until_, state = tonumber(ARGV[2]), ARGV[3]
local known = redis.call("HGET", KEYS[1], ARGV[1])
if known then
    local before, is = string.match(known, "^(%d+) (%a+)$")
    if is == "closed" then
        state = "closed"
    end
    if tonumber(before) > until_ then
        ARGV[2] = before
    end
end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2] .. " " .. state)
return state
