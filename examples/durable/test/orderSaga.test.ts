import { testDurable } from "@weft/sdk/testing"
import { expect, it } from "vitest"
import { fulfil } from "../src/orderSaga.ts"

const requests: Array<string> = []

const shop = (broken: string) => (request: Request) => {
  const { pathname } = new URL(request.url)
  requests.push(`${pathname} ${request.headers.get("idempotency-key")?.split(":")[1]}`)
  return pathname === broken ? new Response("", { status: 503 }) : Response.json({ receipt: "r-1" })
}

const order = { event: { data: { id: "o-1", amount: 20 } } } as const

const kitFor = (broken: string) => {
  requests.length = 0
  return testDurable(fulfil, { ...order, fetch: shop(broken) })
}

it("ships an order", async () => {
  const kit = kitFor("")
  expect(await kit.run()).toMatchObject({ status: "succeeded", result: { status: "shipped", receipt: "r-1" } })
  expect(requests).toEqual(["/stock/reserve 0", "/payments 1", "/parcels 2"])
  await kit.crashEverywhere({ strict: true })
})

it("refunds and releases an order that cannot be shipped", async () => {
  const kit = kitFor("/parcels")
  expect(await kit.run()).toMatchObject({ status: "failed", error: { message: "/parcels responded with 503" } })
  expect(kit.history().map(({ name, attempts }) => `${name} ${attempts}`)).toEqual([
    "reserve 1",
    "charge 1",
    "ship 3",
    "undo charge 1",
    "undo reserve 1"
  ])
  await kit.crashEverywhere({ strict: true })
})

it("repeats a refund that fails, and names it if it never succeeds", async () => {
  const kit = kitFor("/parcels")
  kit.fail("undo charge", { times: 20, error: new Error("closed") })
  const { error } = await kit.run()
  expect(error?.message).toBe('/parcels responded with 503. The undo of the step "charge" failed with Error: closed')
  expect(kit.history().at(-1)).toMatchObject({ name: "undo reserve", attempts: 1 })
})

it("charges with the same key after a crash", async () => {
  const kit = kitFor("")
  kit.crashAt(1)
  await kit.run()
  expect(requests.filter((request) => request.startsWith("/payments"))).toEqual(["/payments 1", "/payments 1"])
})
