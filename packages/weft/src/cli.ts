#!/usr/bin/env node
/** The program `weft`. `@weft/cli` implements it and exports no types, hence the import by URL. */
await import(import.meta.resolve("@weft/cli/main"))

export {}
