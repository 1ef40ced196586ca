/** The functions of a module, by the names that references have. */
import type { AnyFunction } from "../Svc.ts"

/** What `import * as project from "./index.ts"` gives: functions, and objects of functions as namespaces. */
export type Project = Readonly<Record<string, unknown>>

export const functionsOf = (project: Project): ReadonlyMap<string, AnyFunction> =>
  new Map(
    Object.entries(project).flatMap(([name, value]) =>
      isFunction(value)
        ? [[`main/${name}`, value] as const]
        : Object.entries(value ?? {}).flatMap(([inner, member]) =>
            isFunction(member) ? [[`${name}/${inner}`, member] as const] : []
          )
    )
  )

const isFunction = (value: unknown): value is AnyFunction => typeof value === "function"
