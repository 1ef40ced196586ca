/** The modules of the first script. The optional script is a function with this parameter; see `OptionalScript.ts`. */
declare const platform: typeof import("../platform/modules.ts").modules
