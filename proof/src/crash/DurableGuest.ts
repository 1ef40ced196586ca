/** Durable functions of the tenant in crash tests, and the requests that each must record. */

/**
 * The body of each step publishes `flow:body`, so that its executions can be counted. `flow` returns everything that it
 * received, in the order in which it received it.
 */
export const durableSource = `
const runBody = async (svc, key, value) => {
  await svc.events.publish({ type: "flow:body", data: { key } })
  return value
}
const stepOf = (svc) => (name, value, options) =>
  svc.step(name, ({ idempotencyKey }) => runBody(svc, idempotencyKey, { name, value, random: Math.random() }), options)

// Outlasts an outage of the database.
const retry = { attempts: 40, delay: "100ms", max_delay: "250ms", jitter: false }

export const flow = async (event, svc) => {
  const { n } = event.event_data
  const received = []
  const receive = async (name, request) => {
    try {
      const value = await request
      received.push([name, value ?? null])
      return value
    } catch (error) {
      received.push([name, { failed: error.message }])
    }
  }
  const run = stepOf(svc)
  const step = (name, value) => receive(name, run(name, value))
  const sleep = (name, duration) => receive(name, svc.sleep(name, duration))
  const createToken = async (name, options) => {
    const token = await svc.createToken(name, options)
    received.push([name, { id: token.id }])
    return token
  }
  const waitForToken = (token, name) => receive(name, svc.waitForToken(token))

  for (const name of ["first", "second"]) await step(name, n)
  await receive("flaky", svc.step("flaky", async ({ attempt, idempotencyKey }) => {
    const value = await runBody(svc, idempotencyKey, { attempt })
    if (attempt === 1) throw new Error("not yet")
    return value
  }))
  await receive("hopeless", svc.step("hopeless", async ({ idempotencyKey }) => {
    await runBody(svc, idempotencyKey)
    throw Object.assign(new Error("never"), { nonRetryable: true })
  }))
  await sleep("short", "30ms")
  const approval = await createToken("approval")
  const payment = await createToken("payment", { timeout: "1d" })
  // The client of the test reads the URL in the result. Other functions keep it out of results.
  await step("ask", payment.url)
  const ignored = await createToken("ignored", { timeout: "150ms" })
  await Promise.all([
    (async () => {
      await step("a begins")
      await sleep("a sleeps", "20ms")
      await step("a ends")
    })(),
    (async () => {
      await step("b begins")
      await sleep("b sleeps", "1500ms")
      await step("b ends")
    })(),
    (async () => {
      await receive("signal", svc.waitForEvent("signal", { event: "flow:signal", match: { n }, since: "start" }))
      await step("signalled")
    })(),
    (async () => {
      await receive("silence", svc.waitForEvent("silence", { event: "flow:silence", match: { n }, timeout: "100ms" }))
      await step("silent")
    })(),
    (async () => {
      await waitForToken(approval, "approval")
      await step("approved")
    })(),
    (async () => {
      await waitForToken(payment, "payment")
      await step("paid")
    })(),
    (async () => {
      await waitForToken(ignored, "ignored")
      await step("not answered")
    })()
  ])
  await svc.all([0, 1, 2], (item) => step("item " + item, item))
  await Promise.all([
    sleep("long", "1200ms"),
    receive("main/visit", svc.invoke("main/visit", [n, 1])),
    receive("main/trip", svc.invoke("main/trip", [n]))
  ])
  for (const name of ["later", "last"]) await step(name)
  return received
}
flow.meta = { event: "crash:flow", durable: true, retry }

export const visit = async (n, round, svc) => {
  await stepOf(svc)("visit " + round, n)
  if (round === 1) return svc.continueAsNew([n, 2])
  return { n, round }
}
visit.meta = { durable: true, retry }

const undo = (svc) => (result, { idempotencyKey }) => runBody(svc, idempotencyKey, { undone: result })

export const trip = async (n, svc) => {
  const saga = svc.saga()
  const book = (name) => saga.step(name, ({ idempotencyKey }) => runBody(svc, idempotencyKey, name + n), undo(svc))
  await book("hotel")
  await book("flight")
  await svc.sleep("pause", "20ms")
  await stepOf(svc)("car", n, { compensate: undo(svc) })
  await svc.step("pay", async ({ idempotencyKey }) => {
    await runBody(svc, idempotencyKey)
    throw Object.assign(new Error("no money"), { nonRetryable: true })
  })
}
trip.meta = { durable: true, retry }

export const held = async (event, svc) => {
  const saga = svc.saga()
  await saga.step("reserve", ({ idempotencyKey }) => runBody(svc, idempotencyKey, event.event_data.n), undo(svc))
  const token = await svc.createToken("release")
  await svc.waitForToken(token)
}
held.meta = { event: "crash:held", durable: true, retry }
`

/** The records that a durable function must leave. */
export interface DurablePlan {
  readonly status: "succeeded" | "failed" | "cancelled"
  /** Kinds and names of the recorded requests. */
  readonly records: ReadonlyArray<string>
  /** Further requests that may be recorded. */
  readonly optional?: ReadonlyArray<string>
  /** True if they are recorded in this order. Requests side by side have no fixed order. */
  readonly isOrdered: boolean
  /** Functions that its run must have started, once each. */
  readonly children: ReadonlyArray<string>
}

const undone = ["step hotel", "step flight", "sleep pause", "step car", "step pay"]

/** By the name of the function, and the number of the run in a chain of continued runs. */
export const durablePlans: Readonly<Record<string, ReadonlyArray<DurablePlan>>> = {
  flow: [
    {
      status: "succeeded",
      isOrdered: false,
      children: ["visit", "trip"],
      records: [
        ...["first", "second", "flaky", "hopeless", "ask", "a begins", "a ends", "b begins", "b ends", "signalled"],
        ...["silent", "approved", "paid", "not answered", "item 0", "item 1", "item 2", "later", "last"]
      ]
        .map((name) => `step ${name}`)
        .concat(
          ["short", "a sleeps", "b sleeps", "long"].map((name) => `sleep ${name}`),
          ["signal", "silence"].map((name) => `event ${name}`),
          ["approval", "payment", "ignored"].flatMap((name) => [`token ${name}`, `completion ${name}`]),
          ["run main/visit", "run main/trip"]
        )
    }
  ],
  visit: [1, 2].map((round) => ({
    status: "succeeded",
    isOrdered: true,
    children: round === 1 ? ["visit"] : [],
    records: [`step visit ${round}`]
  })),
  trip: [
    {
      status: "failed",
      isOrdered: true,
      children: [],
      records: [...undone, "step undo car", "step undo flight", "step undo hotel"]
    }
  ],
  held: [
    {
      status: "cancelled",
      isOrdered: true,
      children: [],
      // A wait is recorded as cancelled only if the function is idle before its end.
      optional: ["completion release"],
      records: ["step reserve", "token release", "cancel", "step undo reserve"]
    }
  ]
}
