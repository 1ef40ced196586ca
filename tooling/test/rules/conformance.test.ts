import { describe, expect, it } from "vitest"
import { conformanceOf } from "../../src/rules/conformance.ts"
import { findingsOf } from "../fixture.ts"

const specification = `# API
## Endpoints
### Status
| Method | Path | Request |
|---|---|---|
| GET | /status | none |
| POST | /events | body |
## Authentication
1. Keys are secret.
2. Keys end.
`
const row = (id: string, test: string) => `| \`${id}\` | … | ${test} |`
const good = [
  row("endpoint GET /status", "a.test.ts › is flat"),
  row("endpoint POST /events", "a.test.ts › needs event: create<br>a.test.ts › is made"),
  row("authentication rule 1", "a.test.ts › is flat"),
  row("authentication rule 2", "planned")
]
const page = (rows: ReadonlyArray<string>) => `# C\n| Row | Specification | Test |\n|---|---|---|\n${rows.join("\n")}\n`
const tests = `it("is flat", () => {})\nit.each([1])("is made", () => {})\nit(\`needs \${type}: \${action}\`, run)\nlog("is spoken")`
const operation = { operationId: "x" }
const paths = {
  "/v1/status": { get: operation },
  "/v1/events": { post: operation },
  "/webhook/{org}": { get: operation }
}

const find = (files: Record<string, string | object> = {}, planned = ["authentication rule 2"]) =>
  findingsOf(conformanceOf(planned), {
    "docs/specification.md": specification,
    "docs/conformance.md": page(good),
    "docs/openapi.json": { paths },
    "a.test.ts": tests,
    ...files
  })
const withRow = (index: number, text: string) => ({ "docs/conformance.md": page(good.with(index, text)) })

describe("conformance", () => {
  it("has nothing to say when every row has its test or is planned", () => {
    expect(find()).toEqual([])
  })

  it("reports a row of the specification that has none of its own, and a heading whose rows have no names", () => {
    expect(
      find({ "docs/specification.md": `${specification}3. Keys are long.\n## New\n| A | B |\n|---|---|\n| 1 | 2 |\n` })
    ).toEqual([
      "docs/specification.md:13 conformance rows under this heading have no names",
      'docs/specification.md:11 conformance "authentication rule 3" has no row in docs/conformance.md'
    ])
  })

  it("reports rows that the specification does not have, and rows that are there twice", () => {
    expect(
      find({ "docs/conformance.md": page([...good, row("error odd", "a.test.ts › is flat"), good[0] ?? ""]) })
    ).toEqual([
      'docs/conformance.md:4 conformance "endpoint GET /status" is no row of the specification, or is here twice',
      'docs/conformance.md:8 conformance "error odd" is no row of the specification, or is here twice'
    ])
  })

  it.each([
    ["b.test.ts › is flat", "there is no test file b.test.ts"],
    ["a.test.ts › is round", 'a.test.ts has no test "is round"'],
    ["a.test.ts › is spoken", 'a.test.ts has no test "is spoken"'],
    ["a.test.ts › is flat<br>a.test.ts › is round", 'a.test.ts has no test "is round"'],
    ["a.test.ts", '"a.test.ts" is not `file › title`'],
    ["", '"" is not `file › title`']
  ])("reports a test that is not there: %s", (test, message) => {
    expect(find(withRow(2, row("authentication rule 1", test)))).toEqual([
      `docs/conformance.md:6 conformance ${message}`
    ])
  })

  it("lets only the rows of the list wait, and only as long as they have no test", () => {
    expect(find({}, [])).toEqual([
      'docs/conformance.md:7 conformance "authentication rule 2" is not among what is planned'
    ])
    expect(find(withRow(3, row("authentication rule 2", "a.test.ts › is flat")))).toEqual([
      'docs/conformance.md:7 conformance "authentication rule 2" has a test and is still planned'
    ])
    expect(find({}, ["authentication rule 2", "error gone"])).toEqual([
      'tooling/src/conformance/Planned.ts:1 conformance "error gone" is no row of the specification'
    ])
  })

  it("reports endpoints that nobody promised, unless they are marked, and promised ones that are not there", () => {
    const novel = { "/v1/novel": { get: operation }, "/v1/more": { get: { "x-weft-extension": true } } }
    expect(find({ "docs/openapi.json": { paths: { ...paths, ...novel } } })).toEqual([
      "docs/openapi.json:1 conformance GET /novel is neither of the specification nor marked as an extension"
    ])
    expect(find({ "docs/openapi.json": { paths: { "/v1/status": paths["/v1/status"] } } })).toEqual([
      "docs/conformance.md:5 conformance endpoint POST /events is not in docs/openapi.json"
    ])
    expect(
      find(withRow(1, row("endpoint POST /events", "planned")), ["authentication rule 2", "endpoint POST /events"])
    ).toEqual(["docs/conformance.md:5 conformance POST /events is there and still planned"])
  })
})
