/** Any value that JSON can carry. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }
