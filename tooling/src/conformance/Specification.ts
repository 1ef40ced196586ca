/** What the specification requirements, row by row, each row under a name of its own. */
import { type Block, blocksOf, type Row } from "./Markdown.ts"

export const specificationFile = "docs/specification.md"

export interface Requirement {
  /** Kind and subject, such as `endpoint GET /status` or `error forbidden`. */
  readonly id: string
  readonly line: number
}

/** Gives a name to each row of a block; `null` stands for one name for the block as a whole. */
interface Naming {
  readonly kind: string
  readonly name: ((row: Row, index: number) => string) | null
}

const first = ({ cells }: Row): string => cells[0] ?? ""
const firstTwo = ({ cells }: Row): string => `${cells[0]} ${cells[1]}`
const byNumber = (_: Row, index: number): string => String(index + 1)

const namings: Readonly<Record<string, Naming>> = {
  "table Response envelopes": { kind: "envelope", name: first },
  "table Permission map": { kind: "permission", name: first },
  "table Webhook endpoint definition": { kind: "definition", name: first },
  "table Event handler and schedule": { kind: "record", name: first },
  "table States and transitions: State": { kind: "state", name: firstTwo },
  "table States and transitions: Object": { kind: "lifecycle", name: first },
  "table Webhook routes": { kind: "webhook", name: first },
  "list Webhook routes": { kind: "webhook rule", name: byNumber },
  "table Authentication: Credential": { kind: "credential", name: first },
  "table Authentication: Rejected input": { kind: "validation", name: first },
  "list Authentication": { kind: "authentication rule", name: byNumber },
  "table Reserved system event types": { kind: "system event", name: first },
  "table SSE event kinds": { kind: "sse", name: firstTwo },
  "table Errors": { kind: "error", name: first },
  "table Limits": { kind: "limit", name: first }
}

const namingOf = ({ kind, section, heading, header }: Block): Naming | undefined => {
  if (header[0] === "Method" && header[1] === "Path") return { kind: "endpoint", name: firstTwo }
  const found = namings[`${kind} ${heading}`] ?? namings[`${kind} ${heading}: ${header[0]}`]
  if (found !== undefined) return found
  return kind === "table" && section === "Resources and their fields" ? { kind: "record", name: null } : undefined
}

export interface Specification {
  readonly requirements: ReadonlyArray<Requirement>
  /** Lines of tables and lists that no name is known for. */
  readonly unnamed: ReadonlyArray<number>
}

export const specificationOf = (text: string): Specification => {
  const requirements: Array<Requirement> = []
  const unnamed: Array<number> = []
  for (const block of blocksOf(text)) {
    const naming = namingOf(block)
    if (naming === undefined) {
      unnamed.push(block.line)
    } else if (naming.name === null) {
      requirements.push({ id: `${naming.kind} ${block.heading}`, line: block.line })
    } else {
      const { kind, name } = naming
      block.rows.forEach((row, index) => {
        requirements.push({ id: `${kind} ${name(row, index)}`, line: row.line })
      })
    }
  }
  return { requirements, unnamed }
}
