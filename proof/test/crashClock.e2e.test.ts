/** Clock changes while a server runs: forwards by an hour and a day, and back. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { auditDatabase } from "../src/crash/Audit.ts"
import { durableWorkload } from "../src/crash/DurableWorkload.ts"
import { type Environment, openEnvironment, setUp } from "../src/crash/Environment.ts"
import { fileWorkload } from "../src/crash/FileWorkload.ts"
import { textAt } from "../src/crash/Harness.ts"
import { runWorkload } from "../src/crash/RunWorkload.ts"

const hour = 3_600_000
/** Delay after which the server has read its new clock, in milliseconds. */
const noticeMs = 100

let environment: Environment
beforeAll(async () => {
  environment = await openEnvironment("sqlite")
  await environment.start({ clockMs: 0 })
  await setUp(environment)
}, 60_000)
afterAll(() => environment.close())

const setClock = async (offsetMs: number): Promise<void> => {
  environment.setClock(offsetMs)
  await sleep(noticeMs)
}

const publish = async (n: number): Promise<unknown> => {
  const body = { event_type: "crash:work", event_data: { n } }
  return (await environment.harness.request("POST", "/v1/events", { body })).body
}

/** Returns the offset of the server's clock, in milliseconds. */
const readOffset = async (): Promise<number> => Date.parse(textAt(await publish(0), "data", "created_at")) - Date.now()

describe("A clock change", { timeout: 120_000 }, () => {
  it.each([
    ["forwards by an hour", hour],
    ["forwards by a day", 25 * hour],
    ["back by a day", hour],
    ["back by an hour", 0]
  ])("%s delays and loses no event, retry, group, schedule, webhook or file", async (_how, offsetMs) => {
    const { harness } = environment
    await setClock(offsetMs)
    expect(Math.abs((await readOffset()) - offsetMs)).toBeLessThan(10_000)
    const operations = [runWorkload, durableWorkload, fileWorkload].flatMap((workload) => Object.values(workload))
    for (const operation of operations) await operation(harness)
    await harness.check()
    expect(harness.violations).toEqual([])
  })

  it("keeps ids ascending, even backwards", async () => {
    const ids: Array<string> = []
    for (const offsetMs of [0, hour, 0, -hour, 0]) {
      await setClock(offsetMs)
      for (let n = 0; n < 5; n++) ids.push(textAt(await publish(n), "data", "event_id"))
    }
    expect(ids).toEqual([...ids].sort())
  })

  it("keeps all records consistent", async () => {
    await environment.harness.check({ all: true })
    expect(environment.harness.violations).toEqual([])
    await environment.server().close()
    expect(await auditDatabase(environment)).toEqual([])
  })
})
