/** Tokens of durable functions with virtual time: approvals of days, timeouts, replays, and who may complete them. */
import { assert, describe, it } from "@effect/vitest"
import { AuditLog, Caller, type Env, hostIdentity, RunControl, Runs, Tokens } from "@weft/core"
import { PermissionMap } from "@weft/core/adapter"
import type { TrustedModule } from "@weft/core/testing"
import { type Duration, Effect, Fiber, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { cryptography } from "../../Cryptography.ts"
import { allRuns, asHost, deployed, settle as passTurns, publish, runsOf, world } from "../../world.ts"

interface Token {
  readonly url: string
  readonly token: string
  readonly id: string
}

interface Durable {
  readonly step: <A>(name: string, body: () => A | Promise<A>) => Promise<A>
  readonly sleep: (name: string, duration: Schema.Json) => Promise<void>
  readonly createToken: (name: string, options?: Schema.Json) => Promise<Token>
  readonly waitForToken: (token: Token | string) => Promise<Schema.Json>
  readonly log: { readonly info: (message: string) => void }
}

const durable = (fn: (event: unknown, svc: Durable) => unknown, meta = {}) =>
  Object.assign(fn, { meta: { event: "order", durable: true, ...meta } })

const main = (functions: TrustedModule[string]) =>
  world({ shop: { main: functions } }, { publicUrl: "https://weft.example" })

/** Runs everything that is ready. Secrets of tokens are encrypted in threads of the platform, which take real time. */
const settle = Effect.andThen(passTurns, cryptography)

const begin = Effect.gen(function* () {
  const env = yield* deployed("shop")
  const { event_id } = yield* publish(env, "order")
  yield* settled(env, event_id)
  return { env, event_id }
})

const runOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  const [run] = yield* runsOf(env, eventId)
  assert.isDefined(run)
  return run
})

/** Returns the status and the result of a run that ends now. */
const resultOf = Effect.fnUntraced(function* (env: Env, eventId: string) {
  for (let tries = 0; tries < 50 && (yield* runOf(env, eventId)).status === "running"; tries++) yield* settle
  const { status, result } = yield* runOf(env, eventId)
  return [status, JSON.parse(result ?? "null")]
})

/** Waits until the run is suspended or has ended. */
const settled = Effect.fnUntraced(function* (env: Env, eventId: string) {
  for (let tries = 0; tries < 50; tries++) {
    yield* settle
    const [run] = yield* runsOf(env, eventId)
    if (run !== undefined && (run.waiting !== null || run.status !== "running")) return
  }
})

const pass = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settle)

const completeNamed = (env: Env, runId: string, name: string, data?: Schema.Json) =>
  asHost(
    env,
    Tokens.use((tokens) => tokens.completeNamed(runId, name, data))
  )

/** A function that asks for an approval of at most three days. It appends the URL to `sent`, once. */
const approval = (sent: Array<Token>, seen: Array<string> = []) =>
  durable(async (_, svc) => {
    const token = await svc.createToken("approval", { timeout: "3d" })
    seen.push(token.url)
    svc.log.info(`created ${token.url}`)
    await svc.step("ask", () => {
      sent.push(token)
    })
    return svc.waitForToken(token)
  })

describe("a run that waits for a token", () => {
  it.effect("is approved by its URL on the third day, and keeps its URL in the replay", () => {
    const sent: Array<Token> = []
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      const waiting = JSON.parse((yield* runOf(env, event_id)).waiting ?? "{}")
      assert.deepInclude(waiting, { for: "token", name: "approval" })
      assert.closeTo(Date.parse(waiting.until) - Date.parse(waiting.since), 3 * 24 * 3_600_000, 1000)
      yield* pass("71 hours")
      const [token] = sent
      assert.isDefined(token)
      assert.match(token.token, /^[\w-]{43}$/)
      assert.strictEqual(token.url, `https://weft.example/tokens/${token.token}`)
      assert.strictEqual(token.id, `${(yield* runOf(env, event_id)).run_id}:0`)
      assert.strictEqual(yield* Tokens.use((tokens) => tokens.look(token.token)), "approval")
      const completed = yield* Tokens.use((tokens) => tokens.complete(token.token, { by: "ann" }))
      assert.deepInclude(completed, { name: "approval", token_id: token.id })
      yield* settle
      assert.deepStrictEqual(yield* resultOf(env, event_id), ["succeeded", { ok: true, data: { by: "ann" } }])
      assert.deepStrictEqual(seen, [token.url, token.url])
      assert.strictEqual(sent.length, 1)
    }).pipe(Effect.provide(main({ approval: approval(sent, seen) })))
  })

  it.effect("continues when the token expires, not earlier", () => {
    const sent: Array<Token> = []
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      yield* pass("71 hours")
      assert.strictEqual((yield* runOf(env, event_id)).status, "running")
      yield* pass("61 minutes")
      assert.deepStrictEqual(yield* resultOf(env, event_id), ["succeeded", { ok: false, reason: "timeout" }])
      const late = yield* Effect.flip(Tokens.use((tokens) => tokens.complete(sent[0]?.token ?? "")))
      assert.strictEqual(late._tag, "TokenExpired")
    }).pipe(Effect.provide(main({ approval: approval(sent) })))
  })

  it.effect("receives a completion that preceded its wait, and another wait receives it again", () => {
    const early = durable(async (_, svc) => {
      const token = await svc.createToken("early")
      await svc.sleep("later", "1d")
      const first = await svc.waitForToken(token.token)
      await svc.sleep("again", "1d")
      return [first, await svc.waitForToken(token)]
    })
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      yield* completeNamed(env, (yield* runOf(env, event_id)).run_id, "early")
      yield* pass("25 hours")
      yield* pass("25 hours")
      const answer = { ok: true, data: null }
      assert.deepStrictEqual(yield* resultOf(env, event_id), ["succeeded", [answer, answer]])
    }).pipe(Effect.provide(main({ early })))
  })

  it.effect("receives a completion while it is active", () => {
    let complete: (secret: string) => Promise<unknown> = () => Promise.resolve()
    const active = durable(async (_, svc) => {
      const token = await svc.createToken("active", { timeout: 900 })
      const answer = svc.waitForToken(token)
      await svc.step("complete", () => complete(token.token))
      return answer
    })
    return Effect.gen(function* () {
      const context = yield* Effect.context<Tokens>()
      complete = (secret) => Effect.runPromiseWith(context)(Tokens.use((tokens) => tokens.complete(secret, 7)))
      const { env, event_id } = yield* begin
      yield* settle
      assert.deepStrictEqual(yield* resultOf(env, event_id), ["succeeded", { ok: true, data: 7 }])
      assert.strictEqual((yield* runOf(env, event_id)).activations, 1)
    }).pipe(Effect.provide(main({ active })))
  })
})

describe("a token", () => {
  it.effect("is completed once, and expires when its run ends", () => {
    const sent: Array<Token> = []
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      const secret = sent[0]?.token ?? ""
      const tokens = yield* Tokens
      yield* tokens.complete(secret, true)
      const again = yield* Effect.flip(tokens.complete(secret, false))
      assert.strictEqual(again._tag, "TokenCompleted")
      assert.match(again.message, /^The token was completed at \d{4}-/)
      assert.strictEqual((yield* Effect.flip(tokens.look(secret)))._tag, "TokenCompleted")
      yield* settle
      assert.deepStrictEqual(yield* resultOf(env, event_id), ["succeeded", { ok: true, data: true }])

      const { event_id: second } = yield* publish(env, "order")
      yield* settled(env, second)
      const { run_id } = yield* runOf(env, second)
      yield* asHost(
        env,
        RunControl.use((control) => control.cancel(run_id))
      )
      const ended = yield* Effect.flip(tokens.complete(sent[1]?.token ?? ""))
      assert.strictEqual(ended.message, "The token has expired, because its run has ended")
      assert.strictEqual((yield* Effect.flip(completeNamed(env, run_id, "approval")))._tag, "TokenExpired")
    }).pipe(Effect.provide(main({ approval: approval(sent) })))
  })

  it.effect("is unknown to other secrets, names and environments, and to callers without permission", () => {
    const sent: Array<Token> = []
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      const { run_id } = yield* runOf(env, event_id)
      const tokens = yield* Tokens
      const secret = sent[0]?.token ?? ""
      for (const wrong of [
        "",
        "x",
        secret.slice(1),
        `${secret}A`,
        secret.replace(/^./, (c) => (c === "A" ? "B" : "A"))
      ])
        assert.strictEqual((yield* Effect.flip(tokens.complete(wrong)))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(completeNamed(env, run_id, "other")))._tag, "NotFound")
      const other = yield* deployed("shop", "other")
      assert.strictEqual((yield* Effect.flip(completeNamed(other, run_id, "approval")))._tag, "NotFound")
      const reader = { ...hostIdentity(env.env_id), permissions: PermissionMap.make({ "run:*": ["read"] }) }
      const refused = Effect.provideService(tokens.completeNamed(run_id, "approval"), Caller, reader)
      assert.strictEqual((yield* Effect.flip(refused))._tag, "Forbidden")
      const large = yield* Effect.flip(tokens.complete(secret, "x".repeat(256 * 1024)))
      assert.include(large.message, "data must have at most 262144 bytes of JSON (got 262146)")
      assert.strictEqual(yield* tokens.look(secret), "approval")
    }).pipe(Effect.provide(main({ approval: approval(sent) })))
  })

  it.effect("of several with one name, the last is completed by name", () => {
    const several = durable(async (_, svc) => {
      await svc.createToken("same")
      return svc.waitForToken(await svc.createToken("same"))
    })
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      yield* completeNamed(env, (yield* runOf(env, event_id)).run_id, "same", "second")
      yield* settle
      assert.deepStrictEqual(yield* resultOf(env, event_id), ["succeeded", { ok: true, data: "second" }])
    }).pipe(Effect.provide(main({ several })))
  })

  it.effect("is another one in a replay from a later step, which is approved by its own URL", () => {
    const sent: Array<Token> = []
    const seen: Array<string> = []
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      const { run_id } = yield* runOf(env, event_id)
      yield* completeNamed(env, run_id, "approval", "first")
      yield* resultOf(env, event_id)
      // Position 2 is the completion.
      const replaying = yield* Effect.forkChild(
        asHost(
          env,
          RunControl.use((control) => control.replay(run_id, "same", "2"))
        )
      )
      const latest = Effect.map(allRuns(env), ([run]) => run)
      for (let tries = 0; tries < 50 && JSON.parse((yield* latest)?.waiting ?? "{}").for !== "token"; tries++) {
        yield* settle
      }
      assert.deepInclude(JSON.parse((yield* latest)?.waiting ?? "{}"), { for: "token", name: "approval" })
      const [first, , url = ""] = seen
      assert.notStrictEqual(url, first)
      assert.strictEqual(sent.length, 1)
      yield* Tokens.use((tokens) => tokens.complete(url.slice("https://weft.example/tokens/".length), "second"))
      for (let tries = 0; tries < 50 && (yield* latest)?.status === "running"; tries++) yield* settle
      yield* Fiber.join(replaying)
      assert.deepStrictEqual(JSON.parse((yield* latest)?.result ?? "null"), { ok: true, data: "second" })
    }).pipe(Effect.provide(main({ approval: approval(sent, seen) })))
  })

  it.effect("has no secret in logs, in the audit log and in recorded results", () => {
    const sent: Array<Token> = []
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      const { token = "", id = "" } = sent[0] ?? {}
      const { run_id } = yield* runOf(env, event_id)
      yield* Tokens.use((tokens) => tokens.complete(token, 1))
      yield* settle
      const logs = yield* asHost(
        env,
        Runs.use((runs) => runs.logs(run_id, { limit: 100, offset: 0 }))
      )
      assert.deepStrictEqual(
        logs.items.map(({ message }) => message),
        ["created https://weft.example/tokens/***"]
      )
      const { items } = yield* asHost(
        env,
        AuditLog.use((audit) => audit.list({ action: "token.complete" }, { limit: 10, offset: 0 }))
      )
      assert.deepInclude(items[0], { actor_type: "token", actor_id: id, object_id: id, object_name: "approval" })
      assert.notInclude(JSON.stringify([items, yield* runOf(env, event_id)]), token)
    }).pipe(Effect.provide(main({ approval: approval(sent) })))
  })

  it.effect("has a path as its URL without a public URL", () => {
    const sent: Array<Token> = []
    return Effect.gen(function* () {
      yield* begin
      assert.strictEqual(sent[0]?.url, `/tokens/${sent[0]?.token}`)
    }).pipe(Effect.provide(world({ shop: { main: { approval: approval(sent) } } })))
  })

  it.effect("must be one of its own run", () => {
    const foreign = durable((_, svc) => svc.waitForToken("x".repeat(43)))
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      const [status, result] = yield* resultOf(env, event_id)
      assert.strictEqual(status, "failed")
      assert.include(result.error.message, "svc.waitForToken takes a token that svc.createToken returned")
    }).pipe(Effect.provide(main({ foreign })))
  })

  it.effect("must have a timeout of at most 365 days", () => {
    const forever = durable((_, svc) => svc.createToken("forever", { timeout: "366d" }))
    return Effect.gen(function* () {
      const { env, event_id } = yield* begin
      const [, result] = yield* resultOf(env, event_id)
      assert.include(result.error.message, "svc.createToken: the duration must be")
    }).pipe(Effect.provide(main({ forever })))
  })
})
