/** A shop with its own database, and Weft in the same database. */
import { createHash } from "node:crypto"
import { type EnvId, type HostRun, start, type WeftInstance } from "@weft/core"
import { MemoryStores, type TrustedModule, trustedSandbox, trustedZip } from "@weft/core/testing"
import { cluster, database, outbox } from "@weft/postgres"
import { Effect, Redacted } from "effect"
import { Client, Pool } from "pg"
import { freshDatabase } from "../Fresh.ts"

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

const onOrder = Object.assign(({ event_data }: { readonly event_data: { total: number } }) => event_data.total * 2, {
  meta: { event: "order:*" }
})

/** Runs once for each value of `id`, and one at a time. */
const onPayment = Object.assign(({ event_data }: { readonly event_data: { id: string } }) => event_data.id, {
  meta: { event: "payment", idempotency: "id", concurrency: { limit: 1 } }
})

const add = (a: number, b: number) => a + b

const shop: TrustedModule = { main: { onOrder, onPayment, add } }

const weftOn = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      start({
        database: database({ url }),
        cluster: cluster({ url }),
        blobs: MemoryStores.blobs,
        sandbox: trustedSandbox({ shop }),
        masterKeys
      })
    ),
    (weft) => Effect.promise(() => weft.close())
  )

const deploy = async (weft: WeftInstance): Promise<EnvId> => {
  const { org_id } = await weft.orgs.create({ slug: "shop" })
  const { env_id } = await weft.envs.create(org_id, { name: "production" })
  const env = weft.env(env_id)
  const zip = trustedZip("shop")
  await env.projects.create({ name: "shop" })
  const { build } = await env.builds.upload("shop", { zip, hash: createHash("sha256").update(zip).digest("hex") })
  await env.builds.deploy("shop", build.build_id)
  return env_id
}

export const scene = Effect.gen(function* () {
  const url = yield* freshDatabase
  const weft = yield* weftOn(url)
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => new Pool({ connectionString: url, max: 4 }).on("error", () => undefined)),
    (opened) => Effect.promise(() => opened.end())
  )
  const envId = yield* Effect.promise(() => deploy(weft))
  yield* Effect.promise(() => pool.query("CREATE TABLE orders (id text PRIMARY KEY, total int NOT NULL)"))
  // A host may have tables of the same names.
  yield* Effect.promise(() => pool.query("CREATE TABLE events (note text)"))
  return { url, weft, env: weft.env(envId), envId, pool, outbox: outbox(weft) }
})

export type Scene = Effect.Success<typeof scene>

/** Opens a connection with a transaction. The test closes it. */
export const beginTransaction = async ({ url }: Pick<Scene, "url">): Promise<Client> => {
  const client = new Client({ connectionString: url })
  client.on("error", () => undefined)
  await client.connect()
  await client.query("BEGIN")
  return client
}

/** Polls until the condition is true, for up to 10 s. That is far less than the poll interval of nodes. */
export const eventually = async <A>(read: () => Promise<A>, holds: (value: A) => boolean): Promise<A> => {
  for (let round = 0; ; round++) {
    const value = await read()
    if (holds(value) || round === 200) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Returns the runs of the event once `count` of them have succeeded. */
export const findRuns = ({ env }: Pick<Scene, "env">, eventId: string, count = 1): Promise<ReadonlyArray<HostRun>> =>
  eventually(
    () => env.events.runs(eventId),
    (runs) => runs.filter(({ status }) => status === "succeeded").length >= count
  )

/** Returns the row counts of the tables that publishing writes to. */
export const countRows = async ({ pool }: Pick<Scene, "pool">): Promise<typeof nothing> => {
  const tables = ["events", "deliveries", "runs", "once", "schedules", "event_counts", "event_arrivals"]
  const counts = tables.map((table) => `(SELECT count(*)::int FROM weft.${table}) AS ${table}`)
  return (await pool.query(`SELECT ${counts.join(", ")}`)).rows[0]
}

export const nothing = { events: 0, deliveries: 0, runs: 0, once: 0, schedules: 0, event_counts: 0, event_arrivals: 0 }

/** Returns the error of a rejected promise. */
export const rejection = async (promise: Promise<unknown>): Promise<Error & { readonly _tag?: unknown }> => {
  try {
    await promise
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
  throw new Error("The promise was not rejected")
}
