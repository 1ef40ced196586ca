import { assert, describe, it } from "@effect/vitest"
import { accentColors } from "../src/embed/accent.ts"

/** Contrast of WCAG 2 between two colours as `#rrggbb`. */
const contrast = (one: string, other: string): number => {
  const luminance = (hex: string) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => {
      const share = Number.parseInt(hex.slice(1 + index * 2, 3 + index * 2), 16) / 255
      return sum + weight * (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
    }, 0)
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

describe("the colour of a host", () => {
  for (const color of ["#f59e0b", "#ffffff", "#000000", "#0f766e", "#ff00ff", "#777777"]) {
    it(`becomes legible for ${color}, on light and dark surfaces`, () => {
      const colors = accentColors(color)
      const [, onLight = "", onDark = ""] = /light-dark\((#\w{6}), (#\w{6})\)/.exec(colors["--accent"] ?? "") ?? []
      for (const surface of ["#ffffff", "#ecebff"]) assert.isAtLeast(contrast(onLight, surface), 4.5)
      for (const surface of ["#16181d", "#282a45"]) assert.isAtLeast(contrast(onDark, surface), 4.5)
      assert.isAtLeast(contrast(colors["--accent-fill"] ?? "", "#ffffff"), 4.5)
      assert.isAtLeast(contrast(colors["--accent-fill-hover"] ?? "", "#ffffff"), 4.5)
    })
  }

  it("is unchanged if it is legible already", () => {
    assert.strictEqual(accentColors("#0f766e")["--accent-fill"], "#0f766e")
  })
})
