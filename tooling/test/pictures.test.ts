/** Rendering of terminal output as a screen and as SVG. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { renderPicture } from "../src/pictures/Picture.ts"
import { renderScreen } from "../src/pictures/Screen.ts"

const size = { columns: 40, rows: 5 }
const written = (text: string) => renderScreen(Buffer.from(text), size)
const options = { title: "hello", description: "A greeting", columns: size.columns }

/** Returns the lines of text in a picture. */
const textIn = (svg: string): ReadonlyArray<string> =>
  [...svg.matchAll(/<text y="\d+">(.*?)<\/text>/g)].map(([, line = ""]) =>
    line.replace(/<[^>]*>/g, "").replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
  )

describe("A screen", () => {
  it("shows the last text where output was overwritten", async () => {
    const [line, ...others] = await written("working…\r\u001b[2Kdone\r\n\r\n")
    expect(line).toEqual([{ column: 0, text: "done", colour: null, isBold: false, isDim: false }])
    expect(others).toEqual([])
  })

  it("keeps the scrollback", async () => {
    const lines = await written(Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\r\n"))
    expect(lines.map(([span]) => span?.text)).toEqual(Array.from({ length: 20 }, (_, n) => `line ${n}`))
  })

  it("has the colours and columns of its spans", async () => {
    const [line] = await written("\u001b[32mlive\u001b[39m in \u001b[1m5\u001b[22m \u001b[38;5;196mms\u001b[0m")
    expect(line?.map(({ column, text, colour, isBold }) => [column, text, colour, isBold])).toEqual([
      [0, "live", 2, false],
      [4, " in ", null, false],
      [8, "5", null, true],
      [9, " ", null, false],
      [10, "ms", "#ff0000", false]
    ])
  })
})

describe("A picture", () => {
  it("contains any printable output as text", async () => {
    const printable = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: size.columns })
    await fc.assert(
      fc.asyncProperty(fc.array(printable, { minLength: 1, maxLength: 8 }), async (lines) => {
        const svg = renderPicture(await written(lines.join("\r\n")), options)
        expect(textIn(svg)).toEqual(lines.map((line) => line.trimEnd()).filter((line) => line !== ""))
        expect(svg).not.toMatch(/<script|href=/)
      }),
      { numRuns: 50 }
    )
  })

  it("has colours for light and dark schemes, a title and a description", async () => {
    const svg = renderPicture(await written("\u001b[31mno\u001b[39m"), options)
    expect(svg).toContain('<tspan x="16" textLength="15.6" class="c1">no</tspan>')
    expect(svg).toMatch(/\.c1\{fill:#b42318\}[\s\S]*prefers-color-scheme:dark[\s\S]*\.c1\{fill:#ff7b72\}/)
    expect(svg).toContain('<title id="t">hello</title>')
    expect(svg).toContain('<desc id="d">A greeting</desc>')
  })
})
