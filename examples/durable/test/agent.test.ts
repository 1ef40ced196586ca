import { testDurable } from "@weft/sdk/testing"
import { expect, it } from "vitest"
import { answer } from "../src/agent.ts"

const question = { event: { data: { question: "Do I need an umbrella in Oslo?" } } } as const

it("calls tools until the model has an answer, and pays for no turn twice", async () => {
  const turns = [
    {
      calls: [
        { tool: "weather", input: "Oslo" },
        { tool: "distance", input: "Oslo" }
      ]
    },
    { answer: "Yes, it rains." }
  ]
  let asked = 0
  const kit = testDurable(answer, question)
  kit.steps.mock("model", () => turns[asked++])
  kit.steps.mock("tool weather", { sky: "rain" })
  kit.steps.mock("tool distance", { km: 12 })
  kit.fail("tool weather", { times: 3 })
  kit.crashAt(2)
  expect((await kit.run()).result).toEqual({ answer: "Yes, it rains.", turns: 2 })
  expect(asked).toBe(2)
  expect(kit.history().map(({ name, attempts }) => `${name} ${attempts}`)).toEqual([
    "model 1",
    "tool distance 1",
    "tool weather 4",
    "model 1"
  ])
  await kit.crashEverywhere({ strict: true })
})

it("gives up after eight turns", async () => {
  const kit = testDurable(answer, question)
  kit.steps.mock("model", { calls: [{ tool: "weather", input: "Oslo" }] })
  kit.steps.mock("tool weather", { sky: "blue" })
  expect((await kit.run()).result).toEqual({ answer: null, turns: 8 })
})
