/** Every row of the specification has a test, and every endpoint has a row or says that it is an extension. */
import { conformanceFile, type Evidence, evidenceIn } from "../conformance/Conformance.ts"
import { planned } from "../conformance/Planned.ts"
import { specificationFile, specificationOf } from "../conformance/Specification.ts"
import { hasTest } from "../conformance/TestTitles.ts"
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

export const documentFile = "docs/openapi.json"
const plannedFile = "tooling/src/conformance/Planned.ts"

const finding = (file: string, line: number, message: string): Finding => ({ file, line, rule: "conformance", message })

/** The rule with the list of rows that may wait. */
export const conformanceOf =
  (waiting: ReadonlyArray<string>) =>
  (repository: Repository): ReadonlyArray<Finding> => {
    const text = repository.texts.get(specificationFile)
    if (text === undefined) return []
    const { requirements, unnamed } = specificationOf(text)
    const evidence = evidenceIn(repository.texts.get(conformanceFile) ?? "")
    const rows = new Map(evidence.map((row) => [row.id, row]))
    const required = new Set(requirements.map(({ id }) => id))
    return [
      ...unnamed.map((line) => finding(specificationFile, line, "rows under this heading have no names")),
      ...requirements
        .filter(({ id }) => !rows.has(id))
        .map(({ id, line }) => finding(specificationFile, line, `"${id}" has no row in ${conformanceFile}`)),
      ...evidence.flatMap((row) => rowFindings(repository, row, rows.get(row.id) === row && required.has(row.id))),
      ...evidence
        .filter(({ id, tests }) => (tests === null) !== waiting.includes(id))
        .map(({ id, line, tests }) =>
          finding(
            conformanceFile,
            line,
            tests === null ? `"${id}" is not among what is planned` : `"${id}" has a test and is still planned`
          )
        ),
      ...waiting
        .filter((id) => !required.has(id))
        .map((id) => finding(plannedFile, 1, `"${id}" is no row of the specification`)),
      ...endpointFindings(repository, rows)
    ]
  }

const rowFindings = (repository: Repository, row: Evidence, isOfUse: boolean): ReadonlyArray<Finding> => {
  const { id, line, tests, unreadable } = row
  const at = (message: string) => finding(conformanceFile, line, message)
  if (!isOfUse) return [at(`"${id}" is no row of the specification, or is here twice`)]
  if (unreadable !== null) return [at(`"${unreadable}" is not \`file › title\``)]
  return (tests ?? []).flatMap(({ file, title }) => {
    const source = repository.sources.get(file)
    if (source === undefined) return [at(`there is no test file ${file}`)]
    return hasTest(source, title) ? [] : [at(`${file} has no test "${title}"`)]
  })
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** Endpoints of the committed document that nobody promised, and promised ones that are not in it. */
const endpointFindings = (repository: Repository, rows: ReadonlyMap<string, Evidence>): ReadonlyArray<Finding> => {
  const text = repository.texts.get(documentFile)
  const document: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isObject(document) || !isObject(document.paths)) return []
  const served = new Set<string>()
  const findings: Array<Finding> = []
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(isObject(item) ? item : {})) {
      const route = `${method.toUpperCase()} ${path.replace(/^\/v1/, "")}`
      const row = rows.get(`endpoint ${route}`)
      served.add(`endpoint ${route}`)
      const isExtension = isObject(operation) && operation["x-weft-extension"] === true
      if (row === undefined && !isExtension && !path.startsWith("/webhook/")) {
        findings.push(finding(documentFile, 1, `${route} is neither of the specification nor marked as an extension`))
      }
      if (row !== undefined && isExtension) {
        findings.push(finding(documentFile, 1, `${route} is of the specification and marked as an extension`))
      }
      if (row?.tests === null) findings.push(finding(conformanceFile, row.line, `${route} is there and still planned`))
    }
  }
  for (const { id, line, tests } of rows.values()) {
    if (tests === null || !id.startsWith("endpoint ") || served.has(id)) continue
    findings.push(finding(conformanceFile, line, `${id} is not in ${documentFile}`))
  }
  return findings
}

export const conformance = conformanceOf(planned)
