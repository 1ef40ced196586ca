/** Source text of the methods of `svc` in an isolate. */
import { type AnyDerivedOperation, returnsNothing } from "../src/runtime/svc/SvcMethods.ts"
import { bodyOf, docComment, type Group, parameterNames } from "./MethodCode.ts"

export const guestCode = (origin: string, groups: ReadonlyArray<Group>): string => {
  const classes = groups.filter(({ methods }) => methods !== null)
  const methods = groups.filter((group) => group.methods === null)
  return `/** Methods of \`svc\` that make host calls. ${origin} */
import { namedError } from "./failures.ts"
import { parse, stringify } from "./primordials.ts"
import type { Run } from "./Run.ts"
import { toArguments } from "./toArguments.ts"

${classes.map(classCode).join("\n\n")}

/** Groups of methods by their property of \`svc\`. */
export const groups: ReadonlyArray<readonly [name: string, Group: new (run: Run) => object]> = [
${classes.map(({ name }) => `["${name}", ${classOf(name)}]`).join(",\n")}
]

/** Returns the methods of \`svc\` itself. \`runOf\` returns the run of their \`this\`. */
export const makeMethods = (runOf: (svc: unknown) => Run): Readonly<Record<string, object>> => ({
${methods.map(methodCode).join(",\n")}
})
`
}

const resultOf = (operation: AnyDerivedOperation): string => (returnsNothing(operation) ? "void" : "unknown")

const classOf = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

const classCode = ({ name, methods }: Group): string => `/** The methods of \`svc.${name}\`. */
class ${classOf(name)} {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

${[...(methods ?? [])]
  .map(
    ([method, operation]) => `${docComment(operation.guest.doc)}
async ${method}(${parameterNames(operation)
      .map((parameter) => `${parameter}: unknown`)
      .join(", ")}): Promise<${resultOf(operation)}> {
${bodyOf(operation, "this.#run.call")}
}`
  )
  .join("\n\n")}
}`

const methodCode = ({ name, operations }: Group): string =>
  operations
    .map(
      (operation) => `${docComment(operation.guest.doc)}
async ${name}(${["this: unknown", ...parameterNames(operation).map((parameter) => `${parameter}: unknown`)].join(", ")}): Promise<${resultOf(operation)}> {
${bodyOf(operation, "runOf(this).call")}
}`
    )
    .join(",\n")
