/** Every row of the specification cites a test, and every endpoint has a row or is marked as an extension. */
import { parseSpecification, type Requirement, specificationFile } from "../conformance/Specification.ts"
import { hasTest } from "../conformance/TestTitles.ts"
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

const documentFile = "docs/openapi.json"

const finding = (file: string, line: number, message: string): Finding => ({ file, line, rule: "conformance", message })

export const conformance = (repository: Repository): ReadonlyArray<Finding> => {
  const text = repository.texts.get(specificationFile)
  if (text === undefined) return []
  const { requirements, untested } = parseSpecification(text)
  return [
    ...untested.map((line) => finding(specificationFile, line, "the last column of this table must be `Test`")),
    ...requirements.flatMap((row) =>
      faultsOf(repository, row).map((message) => finding(specificationFile, row.line, message))
    ),
    ...endpointFindings(
      repository,
      requirements.filter(({ isEndpoint }) => isEndpoint)
    )
  ]
}

const faultsOf = (repository: Repository, { name, tests }: Requirement): ReadonlyArray<string> => {
  if (tests === null) return [`the test of "${name}" must be cited as [test](../path/of.test.ts "title")`]
  if (tests.length === 0) return [`"${name}" cites no test`]
  return tests.flatMap(({ file, title }) => {
    const source = repository.sources.get(file)
    if (source === undefined) return [`there is no test file ${file}`]
    return hasTest(source, title) ? [] : [`${file} has no test "${title}"`]
  })
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** Compares the rows of endpoints with the operations of the committed OpenAPI document. */
const endpointFindings = (repository: Repository, rows: ReadonlyArray<Requirement>): ReadonlyArray<Finding> => {
  const required = new Map<string, Requirement>()
  const findings: Array<Finding> = []
  for (const row of rows) {
    if (required.has(row.name)) findings.push(finding(specificationFile, row.line, `"${row.name}" has two rows`))
    required.set(row.name, row)
  }
  const operations = operationsOf(repository)
  for (const [route, isExtension] of operations) {
    if (!required.has(route) && !isExtension) {
      findings.push(finding(documentFile, 1, `${route} has no row in ${specificationFile} and is not an extension`))
    }
    if (required.has(route) && isExtension) {
      findings.push(
        finding(documentFile, 1, `${route} has a row in ${specificationFile} and is marked as an extension`)
      )
    }
  }
  for (const { name, line } of required.values()) {
    if (!operations.has(name)) findings.push(finding(specificationFile, line, `"${name}" is not in ${documentFile}`))
  }
  return findings
}

/** Returns, for each route without `/v1`, true if it is marked as an extension. Webhook routes are not endpoints. */
const operationsOf = (repository: Repository): ReadonlyMap<string, boolean> => {
  const text = repository.texts.get(documentFile)
  const document: unknown = text === undefined ? undefined : JSON.parse(text)
  const paths = isObject(document) && isObject(document.paths) ? document.paths : {}
  return new Map(
    Object.entries(paths)
      .filter(([path]) => !path.startsWith("/webhook/"))
      .flatMap(([path, item]) =>
        Object.entries(isObject(item) ? item : {}).map(([method, operation]) => [
          `${method.toUpperCase()} ${path.replace(/^\/v1/, "")}`,
          isObject(operation) && operation["x-weft-extension"] === true
        ])
      )
  )
}
