/** Publishing in the host's own transaction with node-postgres, and a node that receives notifications. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { Effect } from "effect"
import {
  beginTransaction,
  countRows,
  eventually,
  findRuns,
  nothing,
  rejection,
  type Scene,
  scene
} from "./outbox/Scene.ts"
import { placeOrder } from "./outbox/Shop.ts"

const check = (claim: string, body: (place: Scene) => Promise<void>) =>
  it.live(claim, () => Effect.flatMap(scene, (place) => Effect.promise(() => body(place))))

const order = { type: "order:created", data: { total: 21 } }

describe("an event published in the host's transaction", () => {
  check("is handled when the host commits, as in the example of the documentation", async (place) => {
    const { pool, outbox, envId, env } = place
    const event = await placeOrder(pool, outbox, envId, { id: "a", total: 21 })
    const runs = await findRuns(place, event.event_id)
    assert.deepStrictEqual(
      runs.map(({ result }) => result),
      [42]
    )
    assert.deepStrictEqual(event.event_data, { id: "a", total: 21 })
    assert.deepStrictEqual(await env.events.get(event.event_id), event)
    assert.strictEqual((await env.events.list()).total, 1)
    const source = readFileSync(new URL("./outbox/Shop.ts", import.meta.url), "utf8")
    const docs = readFileSync(new URL("../../../docs/outbox.md", import.meta.url), "utf8")
    assert.include(docs, source.slice(source.indexOf("export const placeOrder")))
  })

  check("is neither stored nor handled before the commit", async (place) => {
    const { env, envId, outbox } = place
    const client = await beginTransaction(place)
    const event = await outbox.publish(client, envId, order)
    // Makes every node poll the queue.
    await outbox.wake()
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.deepInclude(await rejection(env.events.get(event.event_id)), { _tag: "NotFound" })
    assert.deepStrictEqual(await countRows(place), nothing)
    await client.query("COMMIT")
    assert.lengthOf(await findRuns(place, event.event_id), 1)
    await client.end()
  })

  check("leaves no rows when the host rolls back, to a savepoint or completely", async (place) => {
    const { envId, outbox, pool } = place
    const client = await beginTransaction(place)
    await client.query("INSERT INTO orders VALUES ('kept', 1)")
    await client.query("SAVEPOINT mine")
    await outbox.publish(client, envId, order)
    await outbox.publish(client, envId, { type: "payment", data: { id: "p" }, idempotencyKey: "k" })
    await client.query("ROLLBACK TO SAVEPOINT mine")
    await client.query("COMMIT")
    await client.query("BEGIN")
    await outbox.publish(client, envId, order)
    await client.query("ROLLBACK")
    await client.end()
    await outbox.wake()
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.deepStrictEqual(await countRows(place), nothing)
    assert.strictEqual((await pool.query("SELECT id FROM orders")).rowCount, 1)
  })

  check("leaves no rows when the connection is lost before the commit", async (place) => {
    const { envId, outbox, pool } = place
    const client = await beginTransaction(place)
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid")
    await outbox.publish(client, envId, order)
    await pool.query("SELECT pg_terminate_backend($1)", [rows[0].pid])
    await rejection(client.query("COMMIT"))
    const lost = await rejection(outbox.publish(client, envId, order))
    assert.deepInclude(lost, { _tag: "TransactionUnusable" })
    assert.deepStrictEqual(await countRows(place), nothing)
  })

  check("may be one of several, also concurrent ones and in one stream", async (place) => {
    const { env, envId, outbox } = place
    const client = await beginTransaction(place)
    const first = await outbox.publish(client, envId, order)
    const others = await Promise.all(
      [1, 2, 3].map((total) =>
        outbox.publish(client, envId, { type: `order:${total}`, data: { total }, stream_id: first.stream_id })
      )
    )
    await client.query("COMMIT")
    for (const { event_id } of [first, ...others]) assert.lengthOf(await findRuns(place, event_id), 1)
    assert.isTrue(others.every(({ stream_id }) => stream_id === first.stream_id))
    assert.strictEqual((await env.events.list()).total, 4)
    await client.end()
  })

  check("does not block other publishers until the host commits, and is counted on commit", async (place) => {
    const { env, envId, outbox } = place
    const client = await beginTransaction(place)
    const other = await beginTransaction(place)
    await outbox.publish(client, envId, order)
    await outbox.publish(client, envId, { ...order, type: "order:paid" })
    await outbox.publish(other, envId, { ...order, type: "order:paid" })
    await outbox.publish(other, envId, order)
    await env.events.publish(order)
    assert.strictEqual((await env.events.list()).total, 1)
    await Promise.all([client.query("COMMIT"), other.query("COMMIT")])
    assert.strictEqual((await env.events.list()).total, 5)
    assert.strictEqual((await countRows(place)).event_arrivals, 0)
    await Promise.all([client.end(), other.end()])
  })

  check("is sent to subscribers of the environment when the host commits", async (place) => {
    const { env, envId, outbox } = place
    const received: Array<string> = []
    const watching = (async () => {
      for await (const message of env.activity()) {
        received.push(message.type)
        if (message.type === "run:stop") return
      }
    })()
    // Other nodes send activity only after they know of the subscriber.
    await new Promise((resolve) => setTimeout(resolve, 500))
    const client = await beginTransaction(place)
    await outbox.publish(client, envId, order)
    await client.query("COMMIT")
    await watching
    assert.deepStrictEqual(received, ["stream:created", "event:created", "run:start", "run:stop"])
    await client.end()
  })
})

describe("publishing in the host's transaction", () => {
  check("claims an Idempotency-Key on commit", async (place) => {
    const { envId, outbox } = place
    const client = await beginTransaction(place)
    const once = { ...order, idempotencyKey: "key" }
    await outbox.publish(client, envId, once)
    await client.query("ROLLBACK")
    await client.query("BEGIN")
    const first = await outbox.publish(client, envId, once)
    assert.deepStrictEqual(await outbox.publish(client, envId, once), first)
    const another = outbox.publish(client, envId, { ...once, type: "order:other" })
    assert.deepInclude(await rejection(another), { _tag: "BadRequest" })
    await client.query("COMMIT")
    await client.query("BEGIN")
    assert.deepStrictEqual(await outbox.publish(client, envId, once), first)
    await client.query("COMMIT")
    assert.strictEqual((await countRows(place)).events, 1)
    await client.end()
  })

  check("applies the idempotency and the concurrency limit of handlers", async (place) => {
    const { envId, outbox, env } = place
    const client = await beginTransaction(place)
    const events: Array<Awaited<ReturnType<typeof outbox.publish>>> = []
    for (const id of ["p", "p", "q"])
      events.push(await outbox.publish(client, envId, { type: "payment", data: { id } }))
    await client.query("COMMIT")
    const runs = await eventually(
      async () =>
        (await Promise.all(events.map(({ event_id }) => env.events.runs(event_id)))).map(({ length }) => length),
      (counts) => counts.join() === "1,0,1"
    )
    assert.deepStrictEqual(runs, [1, 0, 1])
    await client.end()
  })

  check("supports delays and system events", async (place) => {
    const { envId, outbox, env } = place
    const client = await beginTransaction(place)
    const later = await outbox.publish(client, envId, { ...order, delay: "1s" })
    const data = { fn: "main/add", args: [1, 2], schedule: "0 3 * * *" }
    await outbox.publish(client, envId, { type: "svc:schedule:new", data })
    await outbox.publish(client, envId, { type: "svc:call", data: { fn: "main/add", args: [1, 2] } })
    assert.strictEqual((await env.schedules.list()).total, 0)
    await client.query("COMMIT")
    assert.strictEqual((await env.schedules.list()).total, 1)
    const [run] = await findRuns(place, later.event_id)
    assert.isAtLeast(run?.start_time ?? 0, later.event_time)
    await client.end()
  })
})

describe("a failed publish leaves the host's transaction unchanged", () => {
  check("when the event is invalid", async (place) => {
    const { envId, outbox, pool } = place
    const client = await beginTransaction(place)
    await client.query("INSERT INTO orders VALUES ('a', 1)")
    const refused = [
      { event: { type: "", data: null }, _tag: "BadRequest" },
      { event: { type: "svc:call", data: { fn: "main/unknown" } }, _tag: "BadRequest" },
      {
        event: { type: "svc:schedule:cancel", data: { id: "01976a2b-0001-7000-8000-000000000001" } },
        _tag: "BadRequest"
      },
      { event: { ...order, stream_id: "no" }, _tag: "BadRequest" }
    ]
    for (const { event, _tag } of refused) {
      assert.deepInclude(await rejection(outbox.publish(client, envId, event)), { _tag })
    }
    const event = await outbox.publish(client, envId, order)
    await client.query("INSERT INTO orders VALUES ('b', 1)")
    await client.query("COMMIT")
    assert.lengthOf(await findRuns(place, event.event_id), 1)
    assert.strictEqual((await pool.query("SELECT id FROM orders")).rowCount, 2)
    assert.strictEqual((await countRows(place)).events, 1)
    await client.end()
  })

  check("when the role has no permission on Weft's tables", async (place) => {
    const { envId, outbox, pool } = place
    await pool.query("CREATE ROLE other_role; GRANT ALL ON orders TO other_role").catch(() => undefined)
    await pool.query("GRANT ALL ON orders TO other_role")
    const client = await beginTransaction(place)
    await client.query("SET LOCAL ROLE other_role")
    const error = await rejection(outbox.publish(client, envId, order))
    assert.deepInclude(error, { _tag: "TransactionUnusable" })
    assert.deepInclude(error.cause, { code: "42P01" })
    await client.query("INSERT INTO orders VALUES ('a', 1)")
    await client.query("COMMIT")
    assert.strictEqual((await pool.query("SELECT id FROM orders")).rowCount, 1)
    assert.deepStrictEqual(await countRows(place), nothing)
    await client.end()
  })

  check("and reports the reason", async (place) => {
    const { envId, outbox, pool } = place
    assert.match((await rejection(outbox.publish(pool, envId, order))).message, /not a pool/)
    const client = await beginTransaction(place)
    await rejection(client.query("SELECT nonsense"))
    assert.match((await rejection(outbox.publish(client, envId, order))).message, /has failed before/)
    await client.query("ROLLBACK")
    await client.query("BEGIN")
    const other = EnvId.make("01976a2b-0002-7000-8000-000000000009")
    assert.deepInclude(await rejection(outbox.publish(client, other, order)), { _tag: "NotFound" })
    await client.query("COMMIT")
    await client.end()
  })
})

describe("the host's session settings", () => {
  check("are unchanged, in the transaction and after it", async (place) => {
    const { envId, outbox } = place
    const client = await beginTransaction(place)
    const readPath = async () => (await client.query("SHOW search_path")).rows[0].search_path
    await client.query("COMMIT")
    await client.query("SET search_path = public, pg_catalog")
    await client.query("BEGIN")
    await outbox.publish(client, envId, order)
    assert.strictEqual(await readPath(), "public, pg_catalog")
    await rejection(outbox.publish(client, envId, { type: "svc:call", data: {} }))
    assert.strictEqual(await readPath(), "public, pg_catalog")
    await client.query("INSERT INTO events VALUES ('a table of the host with the same name')")
    await client.query("SET LOCAL search_path = pg_catalog")
    await outbox.publish(client, envId, order)
    assert.strictEqual(await readPath(), "pg_catalog")
    await client.query("COMMIT")
    assert.strictEqual(await readPath(), "public, pg_catalog")
    assert.strictEqual((await countRows(place)).events, 2)
    await client.end()
  })
})
