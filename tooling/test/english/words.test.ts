import { describe, expect, it } from "vitest"
import { checkEnglish } from "../../src/english/Check.ts"
import samples from "./samples.json" with { type: "json" }

const docstring = (text: string) => `/**\n * ${text}\n */\nexport const a = 1\n`

const places: ReadonlyArray<readonly [string, string, (sentence: string) => string]> = [
  ["a docs page", "docs/page.md", (sentence) => `# Page\n\nA paragraph of two lines.\n${sentence}\n`],
  ["a table", "docs/page.md", (sentence) => `| a | b |\n| --- | --- |\n| 1 | ${sentence} |\n`],
  ["code of a page", "docs/page.md", (sentence) => `- An item:\n  \`\`\`ts\n  // ${sentence}\n  run()\n  \`\`\`\n`],
  ["a line comment", "src/a.ts", (sentence) => `export const a = 1\n\n// ${sentence}\nexport const b = 2\n`],
  ["a docstring", "src/a.ts", (sentence) => docstring(`Returns the run. ${sentence}`)],
  [
    "a wrapped docstring",
    "src/a.ts",
    (sentence) => docstring(`The run. ${sentence.replace(/ (?=told|none)/, "\n * ")}`)
  ],
  ["an error message", "src/a.ts", (sentence) => `throw new Error("${sentence}")\n`],
  ["a template", "src/a.ts", (sentence) => `throw new Error(\`\${name}. ${sentence}\`)\n`],
  ["a shell script", "run.sh", (sentence) => `#!/bin/sh\nset -e\n# ${sentence}\nmake\n`],
  ["a manifest", "packages/a/package.json", (sentence) => `{\n  "name": "a",\n  "description": "${sentence}"\n}\n`],
  ["a test title", "test/a.test.ts", (sentence) => `it.effect("${sentence}", () => {})\n`]
]

const findingsIn = (path: string, text: string) => checkEnglish(new Map([[path, text]]))

describe.each(places)("The checker of prose in %s", (_, path, put) => {
  it.each(samples.refused)("refuses: $sentence", async ({ rule, found, sentence }) => {
    const findings = await findingsIn(path, put(sentence))
    expect(findings.map((finding) => [finding.rule, finding.message])).toEqual([[rule, expect.stringContaining(found)]])
  })

  it.each(samples.accepted)("accepts: %s", async (sentence) => {
    expect(await findingsIn(path, put(sentence))).toEqual([])
  })
})

describe("The checker of prose", () => {
  it.each(samples.openings)("refuses a docstring that opens with %s", async (word) => {
    const rules = (await findingsIn("src/a.ts", docstring(`${word} the run is.`))).map(({ rule }) => rule)
    expect(rules).toEqual(["opening"])
    expect(await findingsIn("src/a.ts", docstring(`Returns the run.\n * @param run ${word} the run is.`))).toHaveLength(
      1
    )
  })

  it("refuses a sentence of more than 25 words in docstrings, comments and pages", async () => {
    const found = [
      ...(await findingsIn("src/a.ts", docstring(samples.longSentence))),
      ...(await findingsIn("src/a.ts", `// ${samples.longSentence}\n`)),
      ...(await findingsIn("docs/a.md", `- ${samples.longSentence}\n`))
    ]
    expect(found.map(({ rule }) => rule)).toEqual(["length", "length", "length"])
  })

  it("ends a sentence at a period after a number", async () => {
    expect(await findingsIn("docs/a.md", `${"Word ".repeat(14)}is 403. ${"Word ".repeat(14)}plain.\n`)).toEqual([])
  })

  it("ends a sentence at the period before the end of emphasis", async () => {
    const bold = `**${"word ".repeat(12)}bold.** ${"Word ".repeat(13)}plain.`
    expect(await findingsIn("docs/a.md", `- ${bold}\n`)).toEqual([])
  })

  it("counts a code span as one word, and reads no code", async () => {
    expect(await findingsIn("docs/a.md", `${samples.longCode}\n\n${samples.code}\n`)).toEqual([])
    expect(await findingsIn("src/a.ts", docstring(samples.longCode) + docstring(samples.code))).toEqual([])
    expect(await findingsIn("docs/a.md", "```sh\necho is told anew\n```\n")).toEqual([])
  })

  it("names the place and what to write instead", async () => {
    const [first] = await findingsIn("src/a.ts", "const a = 1\n/** Returns the run. Begins anew. */\nconst b = 2\n")
    expect(first).toMatchObject({ file: "src/a.ts", line: 2, column: 29, say: expect.stringContaining("again") })
  })
})

/** The mark of an exception, split so that this file has none. */
const ok = ["english", "ok:"].join("-")

describe("An exception of the checker", () => {
  const sentence = samples.refused[0]?.sentence ?? ""

  it("allows a finding in the comment, line or paragraph that follows", async () => {
    expect(await findingsIn("src/a.ts", `// ${ok} a quotation\n// The run.\n// ${sentence}\n`)).toEqual([])
    expect(await findingsIn("src/a.ts", `throw new Error("${sentence}") // ${ok} a quotation\n`)).toEqual([])
    expect(await findingsIn("docs/a.md", `<!-- ${ok} a quotation -->\nThe run.\n${sentence}\n`)).toEqual([])
  })

  it("needs a reason and an effect", async () => {
    const [bare] = await findingsIn("docs/a.md", `<!-- ${ok} -->\n${sentence}\n`)
    expect(bare).toMatchObject({ rule: "exception", message: "english-ok without a reason" })
    const [idle] = await findingsIn("docs/a.md", `<!-- ${ok} a quotation -->\nThe run.\n`)
    expect(idle).toMatchObject({ rule: "exception", message: "english-ok excepts nothing" })
  })
})
