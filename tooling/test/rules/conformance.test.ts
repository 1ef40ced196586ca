import { describe, expect, it } from "vitest"
import { conformance } from "../../src/rules/conformance.ts"
import { findingsOf } from "../fixture.ts"

const cite = (title: string, file = "a.test.ts") => `[test](../adapters/${file} "${title}")`
const tests = `it("is flat", () => {})\nit.each([1])("is made", () => {})\nit(\`needs \${type}: \${action}\`, run)\nlog("is logged")`
const operation = { operationId: "x" }
const paths = {
  "/v1/status": { get: operation },
  "/v1/events": { post: operation },
  "/webhook/{org}": { get: operation }
}

/** Builds a page with a table of endpoints and a list of rules; the rules start in line 7. */
const page = (status: string, rules: ReadonlyArray<string>) => `# API
### Status
| Endpoint | Response | Test |
|---|---|---|
| \`GET /status\` | 200 | ${status} |
| \`POST /events\` | a \\| b | ${cite("needs event: create")} ${cite("is made")} |
${rules.map((rule, index) => `${index + 1}. ${rule}`).join("\n")}
`

const find = (files: Record<string, string | object> = {}) =>
  findingsOf(conformance, {
    "docs/specification.md": page(cite("is flat"), [`Keys are secret.\n   ${cite("is flat")}`]),
    "docs/openapi.json": { paths },
    "adapters/a.test.ts": tests,
    ...files
  })
const findIn = (status: string, rules: ReadonlyArray<string> = []) =>
  find({ "docs/specification.md": page(status, rules) })

describe("conformance", () => {
  it("accepts rows and rules that cite existing tests", () => {
    expect(find()).toEqual([])
  })

  it("reports rows and rules that cite no test", () => {
    expect(findIn("", [`Keys are secret. ${cite("is flat")}`, "Keys\n   expire."])).toEqual([
      'docs/specification.md:5 conformance "GET /status" cites no test',
      'docs/specification.md:8 conformance "rule 2 of "Status"" cites no test'
    ])
  })

  it("reports tables whose last column is not `Test`", () => {
    const table = "\n| A | Test | B |\n|---|---|---|\n"
    expect(find({ "docs/specification.md": page(cite("is flat"), []) + table })).toEqual([
      "docs/specification.md:9 conformance the last column of this table must be `Test`"
    ])
  })

  it.each([
    [cite("is flat", "b.test.ts"), "there is no test file adapters/b.test.ts"],
    [cite("is round"), 'adapters/a.test.ts has no test "is round"'],
    [cite("is logged"), 'adapters/a.test.ts has no test "is logged"'],
    [`${cite("is flat")} ${cite("is round")}`, 'adapters/a.test.ts has no test "is round"'],
    ["[test](../adapters/a.test.ts)", 'the test of "GET /status" must be cited as [test](../path/of.test.ts "title")']
  ])("reports a citation of a test that does not exist: %s", (citation, message) => {
    expect(findIn(citation)).toEqual([`docs/specification.md:5 conformance ${message}`])
  })

  it("reads pipes and quotation marks in a title", () => {
    const title = String.raw`says \"a\" \| b`
    expect(
      find({ "docs/specification.md": page(cite(title), []), "adapters/a.test.ts": `${tests}\nit('says "a" | b')` })
    ).toEqual([])
  })

  it("reports endpoints without a row, unless they are marked as extensions", () => {
    const more = { "/v1/novel": { get: operation }, "/v1/more": { get: { "x-weft-extension": true } } }
    expect(find({ "docs/openapi.json": { paths: { ...paths, ...more } } })).toEqual([
      "docs/openapi.json:1 conformance GET /novel has no row in docs/specification.md and is not an extension"
    ])
  })

  it("reports rows of endpoints that are extensions, do not exist or have another row", () => {
    expect(
      find({ "docs/openapi.json": { paths: { ...paths, "/v1/status": { get: { "x-weft-extension": true } } } } })
    ).toEqual([
      "docs/openapi.json:1 conformance GET /status has a row in docs/specification.md and is marked as an extension"
    ])
    expect(find({ "docs/openapi.json": { paths: { "/v1/status": paths["/v1/status"] } } })).toEqual([
      'docs/specification.md:6 conformance "POST /events" is not in docs/openapi.json'
    ])
    const twice = page(cite("is flat"), []).replace(
      "| `POST",
      `| \`GET /status\` | 200 | ${cite("is flat")} |\n| \`POST`
    )
    expect(find({ "docs/specification.md": twice })).toEqual([
      'docs/specification.md:6 conformance "GET /status" has two rows'
    ])
  })
})
