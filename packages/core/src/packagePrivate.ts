/** The module behind `@weft/core/package-private`: `internal.ts` under a path that has no types. */
export * from "./internal.ts"
