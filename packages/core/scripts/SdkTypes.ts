/** Source text of the SDK's types of operations. */
import { Schema } from "effect"
import { type AnyDerivedOperation, returnsNothing } from "../src/runtime/svc/SvcMethods.ts"
import { docComment, type Group } from "./MethodCode.ts"
import { decodedType, encodedType, interfaceOf } from "./Types.ts"

export const sdkTypes = (origin: string, groups: ReadonlyArray<Group>): string => {
  const operations = groups.flatMap((group) => group.operations)
  const named = new Set(operations.flatMap(({ guest: { signature = "" } }) => signature.match(/\b[A-Z]\w+\b/g) ?? []))
  const imported = [...named].filter((name) => !ownNames.includes(name)).sort()
  return `/** Methods of \`svc\` that make host calls. Types only. ${origin} */
import type { AnyEvents, Catalogue } from "./Event.ts"
import type { ${imported.join(", ")} } from "./Svc.ts"

${operations.flatMap(namedTypes).join("\n\n")}

/** Methods of \`svc\` that make host calls. \`Events\` are the events that the project publishes. */
export interface SvcOperations<Events extends Catalogue = AnyEvents> {
${groups.map(memberOf).join("\n")}
}
`
}

/** Names in signatures that no module exports. */
const ownNames = ["Events", "Promise", "Readonly", "ReadonlyArray", "Record"]

/** Returns the interfaces that the operation gives names to. */
const namedTypes = ({ name, input, output, guest: { types = {} } }: AnyDerivedOperation): ReadonlyArray<string> => [
  ...(types.input === undefined
    ? []
    : [`/** Argument of \`svc.${name}\`. */\n${interfaceOf(types.input, Schema.toEncoded(input).ast)}`]),
  ...(types.output === undefined
    ? []
    : [`/** Result of \`svc.${name}\`. */\n${interfaceOf(types.output, Schema.toType(output).ast)}`])
]

const memberOf = ({ name, methods, operations }: Group): string =>
  methods === null
    ? operations.map((operation) => methodOf(name, operation)).join("\n")
    : `readonly ${name}: {\n${[...methods].map(([method, operation]) => methodOf(method, operation)).join("\n")}\n}`

const methodOf = (name: string, operation: AnyDerivedOperation): string =>
  `${docComment(operation.guest.doc)}
${name}${operation.guest.signature ?? signatureOf(operation)}: Promise<${resultType(operation)}>`

const signatureOf = (operation: AnyDerivedOperation): string => {
  const { parameters } = operation.guest
  if ("object" in parameters) return `(${parameters.object}: ${inputType(operation)})`
  return `(${parameters.map(({ name, is }) => (is === "string" ? `${name}: string` : `${name}?: unknown`)).join(", ")})`
}

/** Returns the type of the payload. */
export const inputType = ({ input, guest: { types = {} } }: AnyDerivedOperation): string =>
  types.input ?? encodedType(input)

export const resultType = (operation: AnyDerivedOperation): string =>
  returnsNothing(operation) ? "void" : (operation.guest.types?.output ?? decodedType(operation.output))
