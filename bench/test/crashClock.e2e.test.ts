/** A clock that is set while a server runs: forwards by an hour and a day, and back again. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { fileDeeds } from "../src/crash/FileDeeds.ts"
import { wrongInDatabase } from "../src/crash/Judgement.ts"
import { runDeeds } from "../src/crash/RunDeeds.ts"
import { furnish, openSite, type Site } from "../src/crash/Site.ts"
import { textAt } from "../src/crash/World.ts"

const hour = 3_600_000
/** Longer than the server takes to notice that its clock was set. */
const noticeMs = 100

let site: Site
beforeAll(async () => {
  site = await openSite("sqlite")
  await site.start({ clockMs: 0 })
  await furnish(site)
}, 60_000)
afterAll(() => site.close())

const setClock = async (offMs: number): Promise<void> => {
  site.setClock(offMs)
  await sleep(noticeMs)
}

const publish = async (n: number): Promise<unknown> => {
  const body = { event_type: "crash:work", event_data: { n } }
  return (await site.world.ask("POST", "/v1/events", { body })).body
}

/** How far the server's clock is off, in milliseconds. */
const offNow = async (): Promise<number> => Date.parse(textAt(await publish(0), "data", "created_at")) - Date.now()

describe("a clock that is set", { timeout: 120_000 }, () => {
  it.each([
    ["forwards by an hour", hour],
    ["forwards by a day", 25 * hour],
    ["back by a day", hour],
    ["back by an hour", 0]
  ])("%s holds up no event, retry, group, schedule, webhook or file, and loses none", async (_how, offMs) => {
    const { world } = site
    await setClock(offMs)
    expect(Math.abs((await offNow()) - offMs)).toBeLessThan(10_000)
    for (const deed of [...Object.values(runDeeds), ...Object.values(fileDeeds)]) await deed(world)
    await world.look()
    expect(world.violations).toEqual([])
  })

  it("leaves ids ascending, also where it goes back", async () => {
    const ids: Array<string> = []
    for (const offMs of [0, hour, 0, -hour, 0]) {
      await setClock(offMs)
      for (let n = 0; n < 5; n++) ids.push(textAt(await publish(n), "data", "event_id"))
    }
    expect(ids).toEqual([...ids].sort())
  })

  it("leaves records whole", async () => {
    await site.world.look({ all: true })
    expect(site.world.violations).toEqual([])
    await site.server().close()
    expect(await wrongInDatabase(site)).toEqual([])
  })
})
