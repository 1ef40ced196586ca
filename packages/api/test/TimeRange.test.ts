import { assert, describe, it } from "@effect/vitest"
import { parseIsoDuration } from "@weft/api"
import { Duration, Option } from "effect"

const millis = (text: string) => Option.getOrNull(Option.map(parseIsoDuration(text), Duration.toMillis))
const day = 86_400_000

describe("ISO 8601 durations", () => {
  it("are the sum of their designators", () => {
    assert.strictEqual(millis("P7D"), 7 * day)
    assert.strictEqual(millis("P2W"), 14 * day)
    assert.strictEqual(millis("P1Y2M"), (365 + 60) * day)
    assert.strictEqual(millis("PT1H30M"), 5_400_000)
    assert.strictEqual(millis("P1DT0.5S"), day + 500)
    assert.strictEqual(millis("P0.5D"), day / 2)
    assert.strictEqual(millis("P1DT1.5H"), day + 5_400_000)
  })

  it("reject any other text", () => {
    for (const text of [
      "",
      "P",
      "PT",
      "P1",
      "7D",
      "P1H",
      "PT1D",
      "P-1D",
      "P1D ",
      "p1d",
      "P1DT",
      "P1.5DT1H",
      "PT1.5H1M",
      "P.5D",
      "-P1D"
    ]) {
      assert.isNull(millis(text), text)
    }
  })
})
