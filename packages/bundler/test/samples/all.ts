/** A project of functions, one for each area of Node's modules. */
export * from "./context.ts"
export * from "./crypto.ts"
export * from "./streams.ts"
export * from "./text.ts"
