// The JSON schema of a stack file of stacks/, made of the inputs' TypeScript interfaces and their docstrings.
// Run by itself, it writes stacks/servers.schema.json; a test says when that is not what it would write.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { format, resolveConfig } from "prettier";
import ts from "typescript";
import { repositoryFolder } from "./places.mjs";

export const SCHEMA_FILE = join(repositoryFolder, "stacks", "servers.schema.json");
const ARGS_FILE = join(repositoryFolder, "provider", "src", "pulumi", "args.ts");
const ROOT = "VllmServerArgs";

/** @typedef {{ readonly [key: string]: unknown }} Schema */

const PLAIN = new Map([
  [ts.SyntaxKind.StringKeyword, "string"],
  [ts.SyntaxKind.NumberKeyword, "number"],
  [ts.SyntaxKind.BooleanKeyword, "boolean"],
]);

/** What pulumi config set --secret writes instead of a value. */
const SECRET = {
  description: "A secret, as `pulumi config set --path --secret` writes it.",
  type: "object",
  properties: { secure: { type: "string" } },
  required: ["secure"],
  additionalProperties: false,
};

/** @returns {Promise<string>} the text of the schema's file */
export async function serversSchema() {
  const definitions = inputDefinitions();
  const inputs = { $ref: `#/definitions/${ROOT}` };
  const { properties, description, ...rest } = definitions[ROOT] ?? {};
  const group = {
    description: "The group whose inputs this server gets, or a list of them: each over the one before it.",
    anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
  };
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Stack file of stacks/: vLLM servers",
    description:
      "Made by scripts/servers-schema.mjs from the inputs of VllmServer. A server is its own inputs, over those of its groups, over the defaults: objects are merged, lists replaced, null takes away.",
    type: "object",
    properties: {
      config: {
        description: "The stack's config.",
        type: "object",
        properties: {
          "vllm-servers:defaults": { description: "Inputs that every server gets.", allOf: [inputs] },
          "vllm-servers:groups": {
            description: "Name -> inputs that servers get which name the group.",
            type: "object",
            additionalProperties: inputs,
          },
          "vllm-servers:servers": {
            description:
              "Name -> inputs of a server. The name is that of the resource and of the server on its host.",
            type: "object",
            additionalProperties: { $ref: "#/definitions/Server" },
          },
        },
      },
    },
    definitions: {
      ...definitions,
      Server: { description, ...rest, properties: { group, ...properties } },
      Secret: SECRET,
    },
  };
  return await format(JSON.stringify(schema), {
    ...(await resolveConfig(SCHEMA_FILE)),
    filepath: SCHEMA_FILE,
  });
}

/** @returns {Record<string, Schema & { properties?: object, description?: string }>} by the interface's name */
function inputDefinitions() {
  const program = ts.createProgram([ARGS_FILE], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  /** @type {Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>} */
  const declared = new Map();
  for (const file of program
    .getSourceFiles()
    .filter(({ fileName }) => fileName.includes("provider/src/pulumi/"))) {
    for (const statement of file.statements)
      if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
        declared.set(statement.name.text, statement);
  }
  /** @type {Record<string, Schema>} */
  const made = {};
  definition(ROOT);
  return made;

  /** @param {string} name @returns {Schema} a reference to it */
  function definition(name) {
    const reference = { $ref: `#/definitions/${name}` };
    if (name in made) return reference;
    made[name] = {};
    const declaration = declared.get(name);
    if (declaration === undefined) throw new Error(`Cannot make a schema: there is no interface ${name}`);
    made[name] = { ...described(declaration), ...objectOf(checker.getTypeAtLocation(declaration)) };
    return reference;
  }

  /** @param {ts.Type} type @returns {Schema} of an interface, or of a type made of one */
  function objectOf(type) {
    const properties = type.getProperties().map((property) => {
      const [at] = property.declarations ?? [];
      if (at === undefined || !ts.isPropertySignature(at) || at.type === undefined)
        throw new Error(`Cannot make a schema of ${property.name}: it is no property with a type`);
      const orNull = {
        anyOf: [...alternatives(at.type), { type: "null" }, { $ref: "#/definitions/Secret" }],
      };
      return [property.name, { ...described(at), ...orNull }];
    });
    return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
  }

  /** @param {ts.TypeNode} node @returns {Schema[]} */
  function alternatives(node) {
    if (ts.isUnionTypeNode(node)) {
      const all = node.types
        .filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword)
        .flatMap(alternatives);
      const names = all.filter((one) => "const" in one).map((one) => one["const"]);
      return [...all.filter((one) => !("const" in one)), ...(names.length === 0 ? [] : [{ enum: names }])];
    }
    if (ts.isParenthesizedTypeNode(node)) return alternatives(node.type);
    if (ts.isTypeOperatorNode(node)) return alternatives(node.type);
    if (ts.isArrayTypeNode(node)) {
      const items = alternatives(node.elementType);
      return [{ type: "array", items: items.length === 1 ? items[0] : { anyOf: items } }];
    }
    if (ts.isTypeLiteralNode(node)) return [recordOf(node)];
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) return [{ const: node.literal.text }];
    const plain = PLAIN.get(node.kind);
    if (plain !== undefined) return [{ type: plain }];
    if (!ts.isTypeReferenceNode(node)) throw new Error(`Cannot make a schema of ${node.getText()}`);
    const name = node.typeName.getText();
    const [argument] = node.typeArguments ?? [];
    if (name === "Input" && argument !== undefined) return alternatives(argument);
    if (name === "InputObject") return [{ type: "object" }];
    return [definition(name)];
  }

  /** @param {ts.TypeLiteralNode} node an object of any names @returns {Schema} */
  function recordOf(node) {
    const [signature] = node.members;
    if (signature === undefined || !ts.isIndexSignatureDeclaration(signature))
      throw new Error(`Cannot make a schema of ${node.getText()}`);
    const values = [...alternatives(signature.type), { type: "null" }, { $ref: "#/definitions/Secret" }];
    return { type: "object", additionalProperties: { anyOf: values } };
  }

  /** @param {ts.Node} node @returns {{ description?: string }} its docstring as one line */
  function described(node) {
    const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
    const text = ts.getTextOfJSDocComment(comments.at(-1)?.comment);
    return text === undefined ? {} : { description: text.replace(/\s+/g, " ").trim() };
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(SCHEMA_FILE, await serversSchema());
}
