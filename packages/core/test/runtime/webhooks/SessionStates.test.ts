import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "../../../src/foundation/Ids.ts"
import { SessionStates } from "../../../src/runtime/webhooks/SessionStates.ts"

const envId = (end: string) => EnvId.make(`01976a2b-0002-7000-8000-${end.padStart(12, "0")}`)
const session = (key: string | number, end = "1") => ({ env_id: envId(end), key: String(key) })
const subscribed = (uri: string) => ({ uri, isSubscribed: true })

describe("SessionStates", () => {
  it("keeps level and subscriptions of a session until it ends", () => {
    const states = new SessionStates()
    states.apply(session("a"), { level: "error" })
    states.apply(session("a"), subscribed("x:1"))
    assert.deepStrictEqual([states.level(session("a")), states.isSubscribed(session("a"), "x:1")], ["error", true])
    assert.isFalse(states.isSubscribed(session("a", "2"), "x:1"))
    states.apply(session("a"), { uri: "x:1", isSubscribed: false })
    assert.isFalse(states.isSubscribed(session("a"), "x:1"))
    states.apply(session("a"), { hasEnded: true })
    assert.isNull(states.level(session("a")))
  })

  it("accepts at most 64 subscriptions of a session", () => {
    const states = new SessionStates()
    for (let id = 0; id < 65; id++) states.apply(session("a"), subscribed(`x:${id}`))
    assert.deepStrictEqual(
      [states.isSubscribed(session("a"), "x:63"), states.isSubscribed(session("a"), "x:64")],
      [true, false]
    )
    assert.isFalse(states.canSubscribe(session("a"), "x:64"))
    assert.isTrue(states.canSubscribe(session("a"), "x:63"))
  })

  it("forgets the oldest sessions of an environment above 1,000, and none of others", () => {
    const states = new SessionStates()
    states.apply(session("other", "2"), { level: "error" })
    for (let key = 0; key <= 1000; key++) states.apply(session(key), { level: "error" })
    const levels = [session(0), session(1), session(1000), session("other", "2")].map((each) => states.level(each))
    assert.deepStrictEqual(levels, [null, "error", "error", "error"])
  })

  it("forgets the oldest sessions of an environment above 262,144 characters of URIs", () => {
    const states = new SessionStates()
    const uri = (id: number) => subscribed(`${id}:`.padEnd(1024, "x"))
    for (let key = 0; key < 5; key++) {
      for (let id = 0; id < 64; id++) states.apply(session(key), uri(id))
    }
    assert.isFalse(states.isSubscribed(session(0), uri(0).uri))
    assert.isTrue(states.isSubscribed(session(4), uri(63).uri))
  })

  it("forgets sessions of the environment that was idle for longest above 10,000", () => {
    const states = new SessionStates()
    for (let key = 0; key < 10_001; key++)
      states.apply(session(key, String(Math.floor(key / 1000) + 1)), { level: "error" })
    assert.deepStrictEqual([states.level(session(0)), states.level(session(1))], [null, "error"])
    assert.strictEqual(states.level(session(10_000, "11")), "error")
  })
})
