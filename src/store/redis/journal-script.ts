/**
 * Adds to the journal. KEYS: the stream, the hash of requests sent per ten minutes, the standing entry. ARGV: the
 * writer, the id of the last entry it has read and the time at which there was no later one; then for each new entry
 * its text, the number of requests it stands for, how long it stands in milliseconds, and 1 when it is forced.
 *
 * Returns 1 if the entries that are not forced were added too, the id of the last entry, the time, the unread entries
 * as a flat list of times and texts, and, for a writer that has read nothing for over a minute, the day's counts and
 * the standing entry.
 */
export const appendScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stream, sent, standing = KEYS[1], KEYS[2], KEYS[3]
local writer, readUpTo, readAt = ARGV[1], ARGV[2], tonumber(ARGV[3])
local reach = 65000
local slot = math.floor(now / 600000)

local function parts(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end
local function isBefore(one, other)
  local ms, seq = parts(one)
  local otherMs, otherSeq = parts(other)
  return ms < otherMs or (ms == otherMs and seq < otherSeq)
end

local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
local last = newest and newest[1] or ''
-- A stream that ends before the last entry read is another one: Redis has lost the first.
local isLost = newest and readUpTo ~= '' and isBefore(last, readUpTo)
local isNew = readUpTo == '' or isLost or now - readAt > reach or now < readAt
local from = isNew and string.format('%.0f', now - reach) or '(' .. readUpTo
local entries = {}
if newest then
  for _, entry in ipairs(redis.call('XRANGE', stream, from, '+')) do
    if entry[2][2] ~= writer then
      entries[#entries + 1] = string.match(entry[1], '^%d+')
      entries[#entries + 1] = entry[2][4]
    end
  end
end

local isOpen = not isNew and #entries == 0
for at = 4, #ARGV, 4 do
  if isOpen or ARGV[at + 3] == '1' then
    last = redis.call('XADD', stream, 'MAXLEN', '~', 5000, '*', 'writer', writer, 'text', ARGV[at])
    redis.call('PEXPIRE', stream, 600000)
    local count, lasts = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    if count > 0 then
      redis.call('HINCRBY', sent, slot, count)
      redis.call('PEXPIRE', sent, 90000000)
    end
    if lasts > 0 and redis.call('PTTL', standing) < lasts then
      redis.call('SET', standing, string.format('%.0f ', now) .. ARGV[at], 'PX', lasts)
    end
  end
end
-- Counted after adding, so that the added entries are not reported again.
local counts, stands = {}, {}
if isNew then
  local all = redis.call('HGETALL', sent)
  for at = 1, #all, 2 do
    if tonumber(all[at]) < slot - 145 then
      redis.call('HDEL', sent, all[at])
    else
      counts[#counts + 1] = all[at]
      counts[#counts + 1] = all[at + 1]
    end
  end
  local ms, text = string.match(redis.call('GET', standing) or '', '^(%d+) (.*)$')
  if ms then stands = {ms, text} end
end

if last == '' then last = '0-0' end
return {time, isOpen and 1 or 0, last, string.format('%.0f', now), entries, counts, stands}`;
