import { testDurable } from "@weft/sdk/testing"
import { expect, it } from "vitest"
import { signOff } from "../src/signOff.ts"

const contract = { event: { data: { id: "c-1", signer: "ada@example.test" } } } as const

it("is signed with the link of the mail", async () => {
  const kit = testDurable(signOff, contract)
  await kit.advance("71h")
  expect(kit.published).toMatchObject([{ data: { to: "ada@example.test", text: expect.stringContaining("/tokens/") } }])
  await kit.tokens.complete("signature")
  expect(kit).toMatchObject({ status: "succeeded", result: { status: "signed", by: "ada@example.test" } })
  await kit.crashEverywhere({ strict: true })
})

it("records who signed", async () => {
  const kit = testDurable(signOff, contract)
  await kit.run()
  await kit.tokens.complete("signature", { by: "Grace" })
  expect(kit.result).toEqual({ status: "signed", by: "Grace" })
})

it("expires after three days", async () => {
  const kit = testDurable(signOff, contract)
  expect(await kit.advance("71h")).toMatchObject({ status: "running" })
  expect(await kit.advance("1h")).toMatchObject({ status: "succeeded", result: { status: "expired" } })
  await kit.crashEverywhere({ strict: true })
})
