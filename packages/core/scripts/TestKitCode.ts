/** Source text of the methods of \`svc\` in the test kit. */

import type { AnyDerivedOperation } from "../src/runtime/svc/SvcMethods.ts"
import { bodyOf, type Group, parameterNames } from "./MethodCode.ts"
import { inputType, resultType } from "./SdkTypes.ts"

export const testKitCode = (origin: string, groups: ReadonlyArray<Group>): string => {
  const operations = groups.flatMap((group) => group.operations)
  const named = operations.flatMap(({ guest: { types = {} } }) => [types.input ?? [], types.output ?? []].flat())
  return `/** Methods of \`svc\` that make host calls. ${origin} */
import type { ${[...new Set(named), "SvcOperations"].sort().join(", ")} } from "../SvcOperations.ts"
import { namedError } from "./failures.ts"
import { toArguments } from "./toArguments.ts"

const { parse, stringify } = JSON

/** Fakes of host calls of \`svc\`, by operation. */
export interface SvcFakes {
${operations.map(fakeOf).join("\n")}
}

/** Returns the methods. \`call\` makes a host call; JSON text in and out. */
export const makeMethods = (call: (op: string, payload: string) => Promise<string>): SvcOperations => ({
${groups.map(memberOf).join(",\n")}
})
`
}

const fakeOf = (operation: AnyDerivedOperation): string => {
  const result = resultType(operation)
  return `readonly "${operation.name}"?: (input: ${inputType(operation)}) => ${result} | Promise<${result}>`
}

const memberOf = ({ name, methods, operations }: Group): string =>
  methods === null
    ? operations.map((operation) => methodOf(name, operation)).join(",\n")
    : `${name}: {\n${[...methods].map(([method, operation]) => methodOf(method, operation)).join(",\n")}\n}`

const methodOf = (name: string, operation: AnyDerivedOperation): string =>
  `${name}: async (${parameterNames(operation).join(", ")}) => {\n${bodyOf(operation, "call")}\n}`
