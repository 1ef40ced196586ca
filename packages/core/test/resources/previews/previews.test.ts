/** Previews in virtual time: what is isolated, the settings, the limits and the removal. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  Builds,
  Caller,
  ContextVariables,
  type Env,
  Events,
  Files,
  hostIdentity,
  type NewPreview,
  type PreviewStatus,
  Previews,
  Projects,
  type RuntimeConfig,
  Tenants,
  Webhooks
} from "@weft/core"
import { AuditStore, PermissionMap, RunStore } from "@weft/core/adapter"
import { type TrustedSvc, trustedZip } from "@weft/core/testing"
import { Effect, type Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, publish, settle, world } from "../../world.ts"
import { refusal, withMeta } from "../schedules/Fixtures.ts"

type Published = { readonly event_data: unknown }

const makeModule = (answer: string) => ({
  main: {
    first: withMeta({ event: "first" }, (_: Published, svc: TrustedSvc) =>
      svc.events.publish({ type: "second", data: { by: answer } })
    ),
    second: withMeta({ event: "second" }, ({ event_data }: Published) => ({ answer, event_data })),
    secret: withMeta({ event: "secret" }, (_: Published, svc: TrustedSvc) => svc.context.all()),
    slow: withMeta({ event: "slow" }, () => new Promise(() => undefined)),
    tick: withMeta({ schedule: "* * * * *" }, () => answer),
    hook: withMeta({ webhook: { service: "shop", path: "/hook", method: "POST" } }, () => answer)
  }
})

const modules = { shop: makeModule("live"), branch: makeModule("preview"), other: { main: {} } }

const upload = (env: Env, key: string) => {
  const zip = trustedZip(key)
  const hash = createHash("sha256").update(zip).digest("hex")
  return asHost(
    env,
    Effect.map(
      Builds.use((builds) => builds.upload("shop", { zip, hash })),
      ({ build }) => build.build_id
    )
  )
}

const deploy = (env: Env, name: string, input: NewPreview) =>
  asHost(
    env,
    Previews.use((previews) => previews.deploy("shop", name, input))
  )

const setUp = Effect.fnUntraced(function* (input: Omit<NewPreview, "build_id"> = {}) {
  const env = yield* deployed("shop")
  const build_id = yield* upload(env, "branch")
  const preview = yield* deploy(env, "pr-42", { build_id, ...input })
  yield* settle
  return { env, build_id, preview, inside: yield* inside(preview) }
})

/** Returns the environment of a preview. */
const inside = ({ env_id }: PreviewStatus) => Tenants.use((tenants) => tenants.getEnv(env_id))

const resultsIn = (env: Env) =>
  Effect.map(allRuns(env), (runs) => runs.map(({ var: name, status, result }) => `${name} ${status} ${result ?? ""}`))

const call = (env: string, path: string) =>
  Webhooks.use((webhooks) =>
    webhooks.handle({
      ...{ org: "shop", env, service: "shop", path, method: "POST", url: path },
      ...{ query: {}, headers: {}, body: null, remoteIp: "127.0.0.1", token: null }
    })
  )

const storeFile = (env: Env) => {
  const bytes = new TextEncoder().encode("a")
  const file = { path: "a.txt", content_type: "text/plain", runId: null, size: bytes.length, bytes: Stream.make(bytes) }
  return asHost(
    env,
    Files.use((files) => files.upload(file))
  )
}

const setSecret = (env: Env, key: string, value: string) =>
  asHost(
    env,
    ContextVariables.use((variables) => variables.create("shop", { key, value }))
  )

type Services = Layer.Success<ReturnType<typeof world>>

const check = <E>(
  claim: string,
  body: Effect.Effect<void, E, Services>,
  config: Omit<RuntimeConfig, "masterKeys"> = {}
) => it.effect(claim, () => Effect.provide(body, world(modules, config)))

describe("Previews", () => {
  check(
    "keep events, runs, webhooks and files apart from the environment",
    Effect.gen(function* () {
      const { env, inside } = yield* setUp()
      yield* publish(env, "first")
      yield* publish(inside, "first")
      yield* settle
      assert.include(yield* resultsIn(env), 'second succeeded {"answer":"live","event_data":{"by":"live"}}')
      assert.include(yield* resultsIn(inside), 'second succeeded {"answer":"preview","event_data":{"by":"preview"}}')
      assert.strictEqual((yield* allRuns(env)).length, 2)
      assert.strictEqual((yield* allRuns(inside)).length, 2)
      assert.strictEqual((yield* call("production", "/hook")).body, '"live"')
      assert.strictEqual((yield* call("production~pr-42", "/hook")).body, '"preview"')
      yield* storeFile(inside)
      const listed = Files.use((files) => files.list({ limit: 10, offset: 0 }))
      assert.strictEqual((yield* asHost(env, listed)).total, 0)
      assert.strictEqual((yield* asHost(inside, listed)).total, 1)
    })
  )

  check(
    "run no schedules unless they are on",
    Effect.gen(function* () {
      const { env, build_id, inside } = yield* setUp()
      yield* TestClock.adjust("3 minutes")
      yield* settle
      assert.deepStrictEqual(yield* resultsIn(inside), [])
      assert.isNotEmpty(yield* resultsIn(env))
      yield* deploy(env, "pr-42", { build_id, schedules: true })
      yield* settle
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.deepStrictEqual(yield* resultsIn(inside), ['tick succeeded "preview"'])
    })
  )

  check(
    "get copies of the events from outside, if they ask for them",
    Effect.gen(function* () {
      const { env, inside } = yield* setUp({ copy_events: true })
      yield* publish(env, "first")
      yield* publish(env, "unknown")
      yield* settle
      assert.sameMembers(
        (yield* resultsIn(inside)).filter((run) => run.startsWith("second")),
        ['second succeeded {"answer":"preview","event_data":{"by":"preview"}}']
      )
      const events = Events.use((each) => each.list({ limit: 10, offset: 0 }))
      assert.sameMembers(
        (yield* asHost(inside, events)).items.map(({ event_type }) => event_type),
        ["first", "second"]
      )
    })
  )

  check(
    "read the secrets of the project, their own first, or only their own",
    Effect.gen(function* () {
      const { env, build_id, inside } = yield* setUp()
      yield* setSecret(env, "A", "a of shop")
      yield* setSecret(env, "B", "b of shop")
      yield* setSecret(inside, "B", "b of pr")
      const read = Effect.gen(function* () {
        yield* TestClock.adjust("2 seconds")
        const { event_id } = yield* publish(inside, "secret")
        // The decryption takes real time.
        for (;;) {
          yield* settle
          const run = (yield* allRuns(inside)).find((each) => each.event_id === event_id)
          if (run?.status === "succeeded") return Object.keys(JSON.parse(run.result ?? "{}"))
        }
      })
      assert.sameMembers(yield* read, ["A", "B"])
      yield* deploy(env, "pr-42", { build_id, secrets: "own" })
      assert.deepStrictEqual(yield* read, ["B"])
    })
  )

  check(
    "admit callers of the environment, with their permissions on the project",
    Effect.gen(function* () {
      const { env, preview, inside } = yield* setUp()
      const enter = (key: string, name = "pr-42", of = env) =>
        Previews.use((previews) =>
          previews.enter({ ...hostIdentity(of.env_id), permissions: PermissionMap.make({ [key]: ["read"] }) }, name)
        )
      const entered = yield* enter(`run:${preview.project_id}`)
      assert.strictEqual(entered.env_id, inside.env_id)
      assert.strictEqual(entered.preview, "pr-42")
      assert.deepStrictEqual(entered.permissions[`run:${preview.copy_project_id}`], ["read"])
      assert.deepStrictEqual((yield* enter("run:shop")).permissions, PermissionMap.make({ "run:shop": ["read"] }))
      assert.include(yield* refusal(enter("run:shop", "pr-43")), 'no preview "pr-43"')
      const stranger = yield* deployed("other")
      assert.include(yield* refusal(enter("run:shop", "pr-42", stranger)), "no preview")
      assert.include(yield* refusal(enter("run:shop", "pr-42", inside)), "no preview")
    })
  )

  check(
    "are refused with invalid settings, with a name of another project, in a preview, and beyond the plan",
    Effect.gen(function* () {
      const { env, build_id, inside } = yield* setUp()
      assert.include(yield* refusal(deploy(env, "PR 42", { build_id })), "name must be 1 to 63 lowercase letters")
      assert.include(
        yield* refusal(deploy(env, "pr-1", { build_id, ttl: "91d" })),
        "ttl must be a duration from 1m to 90d"
      )
      assert.include(yield* refusal(deploy(env, "pr-1", { build_id: env.env_id })), "no such build")
      assert.include(yield* refusal(deploy(inside, "pr-1", { build_id })), "A preview cannot have previews")
      yield* deploy(env, "pr-1", { build_id })
      assert.include(yield* refusal(deploy(env, "pr-2", { build_id })), "max_previews")
    }),
    { plans: { "Self-Host": { max_previews: 2 } } }
  )

  check(
    "ask the policy of the host, which compares the build with the deployed one",
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const build_id = yield* upload(env, "branch")
      assert.include(yield* refusal(deploy(env, "pr-42", { build_id })), "not first")
      const previews = yield* Previews
      assert.strictEqual((yield* asHost(env, previews.list("shop", { limit: 10, offset: 0 }))).total, 0)
    }),
    { deployPolicy: ({ isFirst }) => (isFirst ? undefined : "not first") }
  )

  check(
    "end at their time: runs are cancelled, and nothing remains",
    Effect.gen(function* () {
      const { env, preview, inside } = yield* setUp({ ttl: "2m" })
      yield* publish(inside, "second")
      yield* storeFile(inside)
      yield* settle
      yield* TestClock.adjust("1 minute")
      const extended = yield* asHost(
        env,
        Previews.use((previews) => previews.extend("shop", "pr-42", "2m"))
      )
      assert.isAbove(extended.expires_at, preview.expires_at)
      yield* TestClock.adjust("110 seconds")
      assert.strictEqual((yield* call("production~pr-42", "/hook")).status, 200)
      yield* publish(inside, "slow")
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.strictEqual((yield* Effect.flip(call("production~pr-42", "/hook")))._tag, "NotFound")
      const statuses = (yield* allRuns(inside)).map(({ var: name, status }) => `${name} ${status}`)
      assert.sameMembers(statuses, ["slow cancelled", "second succeeded", "hook succeeded"])
      for (let minute = 0; minute < 14; minute += 2) {
        yield* TestClock.adjust("2 minutes")
        yield* settle
      }
      assert.strictEqual((yield* Effect.flip(Tenants.use((tenants) => tenants.getEnv(inside.env_id))))._tag, "NotFound")
      const left = yield* RunStore.use((runs) => runs.list(inside.env_id, { limit: 10, offset: 0 }, {}))
      assert.strictEqual(left.total, 0)
    })
  )

  check(
    "end by hand, and with their project; the name is free at once",
    Effect.gen(function* () {
      const { env, build_id, preview } = yield* setUp()
      const previews = yield* Previews
      yield* asHost(env, previews.remove("shop", "pr-42"))
      assert.strictEqual((yield* Effect.flip(asHost(env, previews.get("shop", "pr-42"))))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(call("production~pr-42", "/hook")))._tag, "NotFound")
      const again = yield* deploy(env, "pr-42", { build_id })
      assert.notStrictEqual(again.env_id, preview.env_id)
      assert.strictEqual(again.url, "/webhook/shop/production~pr-42")
      assert.strictEqual((yield* call("production~pr-42", "/hook")).status, 200)
      const entries = yield* AuditStore.use((audit) => audit.list({ env_id: env.env_id }, { limit: 100, offset: 0 }))
      const actions = entries.items.map(({ action }) => action).filter((action) => action.startsWith("preview"))
      assert.deepStrictEqual(actions, ["preview.create", "preview.remove", "preview.create"])
      yield* asHost(
        env,
        Projects.use((projects) => projects.remove("shop"))
      )
      yield* TestClock.adjust("31 seconds")
      yield* settle
      assert.strictEqual((yield* Effect.flip(call("production~pr-42", "/hook")))._tag, "NotFound")
    })
  )

  check(
    "need the permission to execute builds of the project",
    Effect.gen(function* () {
      const { env, build_id } = yield* setUp()
      const previews = yield* Previews
      const as = <A, E>(key: string, actions: ReadonlyArray<string>, effect: Effect.Effect<A, E, Caller>) =>
        Effect.provideService(effect, Caller, {
          ...hostIdentity(env.env_id),
          permissions: PermissionMap.make({ [key]: actions })
        })
      const read = as("build:shop", ["read"], previews.get("shop", "pr-42"))
      assert.strictEqual((yield* read).name, "pr-42")
      for (const denied of [
        as("build:shop", ["read"], previews.deploy("shop", "pr-1", { build_id })),
        as("build:shop", ["read"], previews.extend("shop", "pr-42", "1h")),
        as("build:shop", ["read"], previews.remove("shop", "pr-42")),
        as("build:other", ["read", "execute"], previews.get("shop", "pr-42"))
      ]) {
        assert.strictEqual((yield* Effect.flip(Effect.asVoid(denied)))._tag, "Forbidden")
      }
    })
  )
})
