// Interfaces, aliases and classes of source files with their docstrings, as values.
import ts from "typescript";

/**
 * @typedef {object} Property
 * @property {string} name
 * @property {string} type as a reader wants it: without Input, Output, readonly and undefined
 * @property {readonly string[]} names of other types in it
 * @property {boolean} isRequired
 * @property {string} text its docstring, in one line
 */
/**
 * @typedef {object} Declaration
 * @property {string} name
 * @property {string} text its docstring, in one line
 * @property {string | undefined} type what an alias stands for
 * @property {readonly string[]} names of other types in it and its properties
 * @property {readonly Property[]} properties
 */

/** Wrappers that say how a value comes, not what it is. */
const WRAPPERS = new Set(["Input", "Output"]);

/**
 * All exported interfaces, classes and aliases of these files.
 * @param {readonly string[]} files absolute paths @returns {ReadonlyMap<string, Declaration>} by name, in order of reading
 * @throws {Error} for every declaration and property without a docstring, all at once
 */
export function readDeclarations(files) {
  /** @type {Map<string, Declaration>} */
  const found = new Map();
  /** @type {string[]} */
  const undocumented = [];
  for (const file of files) {
    const source = ts.createSourceFile(file, ts.sys.readFile(file) ?? "", ts.ScriptTarget.Latest, true);
    for (const node of source.statements) {
      if (!isDeclaration(node) || !isExported(node)) continue;
      const declaration = declarationOf(node, source);
      found.set(declaration.name, declaration);
      for (const { name, text } of [declaration, ...declaration.properties])
        if (text === "") undocumented.push(name === declaration.name ? name : `${declaration.name}.${name}`);
    }
  }
  if (undocumented.length > 0) throw new Error(`Without a docstring: ${undocumented.join(", ")}`);
  return found;
}

/** @typedef {ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration} Declaring */

/** @param {ts.Node} node @returns {node is Declaring} */
function isDeclaration(node) {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
}

/** @param {Declaring} node @returns {boolean} */
function isExported(node) {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

/** @param {Declaring} node @param {ts.SourceFile} source @returns {Declaration} */
function declarationOf(node, source) {
  const name = node.name?.getText(source) ?? "";
  const text = docstring(node);
  if (ts.isTypeAliasDeclaration(node)) {
    const { words, names } = typeText(node.type, source);
    return { name, text, type: words, names, properties: [] };
  }
  const properties = node.members.flatMap((member) =>
    ts.isPropertySignature(member) || ts.isPropertyDeclaration(member) ? [propertyOf(member, source)] : [],
  );
  return { name, text, type: undefined, names: properties.flatMap(({ names }) => names), properties };
}

/** @param {ts.PropertySignature | ts.PropertyDeclaration} member @param {ts.SourceFile} source @returns {Property} */
function propertyOf(member, source) {
  const { words, names } = typeText(member.type, source);
  const isRequired = ts.isPropertySignature(member) && member.questionToken === undefined;
  return { name: member.name.getText(source), type: words, names, isRequired, text: docstring(member) };
}

/** @param {ts.TypeNode | undefined} type @param {ts.SourceFile} source @returns {{ words: string, names: readonly string[] }} */
function typeText(type, source) {
  /** @type {Set<string>} */
  const names = new Set();
  /** @param {ts.TypeNode} node @returns {string} */
  const words = (node) => {
    if (ts.isParenthesizedTypeNode(node)) return words(node.type);
    if (ts.isTypeOperatorNode(node)) return words(node.type);
    if (ts.isArrayTypeNode(node)) {
      const item = words(node.elementType);
      return item.includes("|") ? `(${item})[]` : `${item}[]`;
    }
    if (ts.isUnionTypeNode(node)) {
      const parts = node.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword).map(words);
      return parts.join(" | ");
    }
    if (ts.isTypeLiteralNode(node)) {
      const [member] = node.members;
      if (node.members.length !== 1 || member === undefined || !ts.isIndexSignatureDeclaration(member))
        throw new Error(`Cannot describe a type: found ${node.getText(source)}, need an index signature`);
      return `{ [name]: ${words(member.type)} }`;
    }
    if (ts.isTypeReferenceNode(node)) {
      const name = node.typeName.getText(source);
      const [first, ...others] = node.typeArguments ?? [];
      if (first !== undefined && WRAPPERS.has(name)) return words(first);
      if (name === "InputObject") return "object";
      if (first !== undefined) return `${name}<${[first, ...others].map(words).join(", ")}>`;
      names.add(name);
      return name;
    }
    return node.getText(source);
  };
  return { words: type === undefined ? "" : words(type), names: [...names] };
}

/** @param {ts.Node} node @returns {string} the comment before its first tag, in one line; "" without one */
function docstring(node) {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return (ts.getTextOfJSDocComment(comment?.comment) ?? "").replace(/\s+/g, " ").trim();
}
