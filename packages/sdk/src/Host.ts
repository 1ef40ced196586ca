/** The functions of the host. Types only. */

/**
 * Host functions by name. A host declares them for the authors of functions:
 *
 *     declare module "@weft/sdk" {
 *       interface HostFunctions {
 *         "crm.lookup"(input: { id: string }): { name: string } | null
 *       }
 *     }
 *
 * and functions call `await svc.host.crm.lookup({ id })`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: hosts extend it
export interface HostFunctions {}

/** Type of `svc.host` with these functions: a dot in a name becomes a property. */
export type HostFace<Functions> = {
  readonly [Head in HeadOf<keyof Functions & string>]: (Head extends keyof Functions
    ? Called<Functions[Head]>
    : unknown) &
    HostFace<Below<Functions, Head>>
}

type HeadOf<Name extends string> = Name extends `${infer Head}.${string}` ? Head : Name

type Below<Functions, Head extends string> = {
  [Name in keyof Functions & string as Name extends `${Head}.${infer Rest}` ? Rest : never]: Functions[Name]
}

type Called<Fn> = Fn extends (...input: infer Input) => infer Output
  ? (...input: Input) => Promise<Awaited<Output>>
  : never

/** Fakes of host functions for tests. */
export type HostFakes<Functions = HostFunctions> = {
  readonly [Name in keyof Functions]?: Functions[Name] extends (...input: infer Input) => infer Output
    ? (...input: Input) => Output | Promise<Awaited<Output>>
    : never
}
