-- Replaces records if each is as expected.
--
-- KEYS: the records.
-- ARGV: for each record its name, what is expected and the value: "=" and the bytes, or "-".
local function text(argument)
    if string.sub(argument, 1, 1) == "=" then
        return string.sub(argument, 2)
    end
    return false
end
for at = 1, #ARGV, 3 do
    if redis.call("HGET", KEYS[1], ARGV[at]) ~= text(ARGV[at + 1]) then
        return 0
    end
end
for at = 1, #ARGV, 3 do
    local value = text(ARGV[at + 2])
    if value then
        redis.call("HSET", KEYS[1], ARGV[at], value)
    else
        redis.call("HDEL", KEYS[1], ARGV[at])
    end
end
return 1
