/** `node:assert/strict`. */
import { strict } from "node:assert"

export {
  Assert,
  AssertionError,
  CallTracker,
  deepStrictEqual,
  deepStrictEqual as deepEqual,
  doesNotMatch,
  doesNotReject,
  doesNotThrow,
  fail,
  ifError,
  match,
  notDeepStrictEqual,
  notDeepStrictEqual as notDeepEqual,
  notStrictEqual,
  notStrictEqual as notEqual,
  ok,
  partialDeepStrictEqual,
  rejects,
  strict,
  strictEqual,
  strictEqual as equal,
  throws
} from "node:assert"
export default strict
