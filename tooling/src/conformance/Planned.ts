/** Rows of the specification that belong to a later part of the product. Only these may have no test. */
export const planned: ReadonlyArray<string> = []
