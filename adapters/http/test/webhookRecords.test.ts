/** Records of webhooks over HTTP: response, list of runs, usage, messages, outages and shutdown. */
import { assert, describe, it } from "@effect/vitest"
import { Caller, hostIdentity, OrgUsages, Runs, StoreUnavailable } from "@weft/core"
import { type DatabaseStores, JournalStore } from "@weft/core/adapter"
import { trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { backendOfRun, backends } from "./server/Backend.ts"
import { startWeft, TestServer } from "./server/TestServer.ts"

interface Request {
  readonly query: { readonly fail?: string }
}

const modes = ["before", "after", "failures", "none"] as const
type Mode = (typeof modes)[number]

const endpoint = (record: Mode) =>
  Object.assign(
    ({ query }: Request) => {
      if (query.fail !== undefined) throw new Error(record)
      return record
    },
    { meta: { webhook: { service: "s", path: `/${record}`, method: "GET" }, record } }
  )

const sandbox = trustedSandbox({ shop: { main: Object.fromEntries(modes.map((mode) => [mode, endpoint(mode)])) } })

/** True while the store accepts no records and counts. */
let isDown = false

const whileUp = <A>(write: Effect.Effect<A, StoreUnavailable>) =>
  Effect.suspend(
    (): Effect.Effect<A, StoreUnavailable> =>
      isDown ? Effect.fail(new StoreUnavailable({ operation: "commit", cause: new Error("down") })) : write
  )

/** Makes the writes of stores fail while `isDown` is true. */
const withOutages = (stores: Context.Context<DatabaseStores>) => {
  const journal = Context.get(stores, JournalStore)
  return Layer.succeedContext(
    Context.add(stores, JournalStore, {
      ...journal,
      commit: (...args) => whileUp(journal.commit(...args)),
      count: (...args) => whileUp(journal.count(...args))
    })
  )
}

interface Opened {
  readonly scope: Scope.Closeable
  readonly database: Layer.Layer<DatabaseStores>
  readonly server: TestServer
}

/** Opens a database that outlives its nodes, and starts a server on it. */
const open = async (): Promise<Opened> => {
  const scope = Effect.runSync(Scope.make())
  const stores = await Effect.runPromise(Layer.buildWithScope(backends[backendOfRun].database, scope))
  const database = withOutages(stores)
  const server = await TestServer.start({}, undefined, startWeft({ sandbox, database }))
  await server.deploy("shop", "shop")
  return { scope, database, server }
}

let opened: Opened

beforeAll(async () => {
  opened = await open()
})
afterAll(async () => {
  await opened.server.close()
  await Effect.runPromise(Scope.close(opened.scope, Exit.void))
})

/** Returns the status of the response. */
const hook = async (mode: Mode, query = "", { server } = opened): Promise<number> =>
  (await server.call("GET", `/webhook/acme/prod/s/${mode}${query}`, { token: null })).status

/** Calls a webhook once with success and once with failure. */
const hookBoth = async (mode: Mode, on = opened): Promise<ReadonlyArray<number>> => [
  await hook(mode, "", on),
  await hook(mode, "?fail=1", on)
]

/** Returns the statuses of the runs of a mode's webhook, sorted. */
const statuses = async (mode: Mode): Promise<ReadonlyArray<string>> => {
  const { json } = await opened.server.call("GET", "/v1/runs?limit=100")
  const runs: ReadonlyArray<ListedRun> = json.data
  return runs.flatMap(({ result, status }) => (nameOf(result) === mode ? [status] : [])).sort()
}

interface ListedRun {
  readonly status: string
  readonly result: string | { readonly error: { readonly message: string } }
}

/** Returns the mode of a run by its result: functions return their mode, or throw it. */
const nameOf = (result: ListedRun["result"]): string => (typeof result === "string" ? result : result.error.message)

const used = async () => (await opened.server.call("GET", "/v1/org/usage")).json.data.usage

/** Repeats a query until it returns the expected result. The timeout of the test ends it otherwise. */
const eventually = async (query: () => Promise<unknown>, expected: unknown): Promise<void> => {
  for (;;) {
    try {
      return assert.deepStrictEqual(await query(), expected)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

const isDeployed = (on = opened): Promise<void> => eventually(() => hook("before", "", on), 200)

describe("the record of a webhook", () => {
  it("is in the list of runs at once with before, and later with after", async () => {
    await isDeployed()
    const before = await statuses("before")
    assert.deepStrictEqual(await hookBoth("before"), [200, 500])
    assert.deepStrictEqual(await statuses("before"), [...before, "failed", "succeeded"].sort())
    assert.deepStrictEqual(await hookBoth("after"), [200, 500])
    await eventually(() => statuses("after"), ["failed", "succeeded"])
  })

  it("exists only for failed runs with failures and never with none, and usage counts all runs", async () => {
    await isDeployed()
    const { runs_this_period, call_count } = await used()
    for (const mode of ["failures", "none"] as const) assert.deepStrictEqual(await hookBoth(mode), [200, 500])
    await eventually(async () => (await used()).runs_this_period, runs_this_period + 4)
    assert.strictEqual((await used()).call_count, call_count + 1)
    assert.deepStrictEqual([await statuses("failures"), await statuses("none")], [["failed"], []])
  })

  it("is counted by the metrics in all modes", async () => {
    await isDeployed()
    const count = async () => {
      const { text } = await opened.server.call("GET", "/metrics", { token: null })
      return Number(/^weft_runs_total\{type="call",status="succeeded"\} (\d+)$/m.exec(text)?.[1])
    }
    const before = await count()
    const { runs_this_period } = await used()
    await hook("failures")
    await hook("none")
    await eventually(count, before + 2)
    // Counted in batches, later than by the metrics.
    await eventually(async () => (await used()).runs_this_period, runs_this_period + 2)
  })
})

describe("an outage of the store", () => {
  it("fails only calls that wait for their record, and the others are recorded afterwards", async () => {
    await isDeployed()
    const { runs_this_period } = await used()
    const [after, failures] = [await statuses("after"), await statuses("failures")]
    isDown = true
    assert.strictEqual(await hook("before"), 500)
    for (const mode of ["after", "failures", "none"] as const) assert.deepStrictEqual(await hookBoth(mode), [200, 500])
    isDown = false
    await eventually(() => statuses("after"), [...after, "failed", "succeeded"].sort())
    await eventually(() => statuses("failures"), [...failures, "failed"])
    await eventually(async () => (await used()).runs_this_period, runs_this_period + 6)
  })
})

describe("a shutdown", () => {
  it("stores pending records and counts", async () => {
    const first = await open()
    await isDeployed(first)
    const { weft, env } = first.server
    const asHost = Effect.provideService(Caller, hostIdentity(env.env_id))
    const list = asHost(Runs.use((runs) => runs.list({ limit: 100, offset: 0 }, {})))
    const usage = asHost(OrgUsages.use(({ get }) => get))
    const before = (await weft.runtime.runPromise(list)).total
    for (const mode of ["after", "failures", "none"] as const) await hookBoth(mode, first)
    await first.server.close()

    const next = await startWeft({ sandbox, database: first.database })
    assert.strictEqual((await next.runtime.runPromise(list)).total, before + 3)
    assert.strictEqual((await next.runtime.runPromise(usage)).usage.runs_this_period, before + 6)
    await next.close()
    await Effect.runPromise(Scope.close(first.scope, Exit.void))
  })
})
