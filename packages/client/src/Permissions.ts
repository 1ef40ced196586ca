/** Actions per resource, such as `{"event:order:created": ["create"]}`. */
export type Permissions = Readonly<Record<string, ReadonlyArray<string>>>
