// What n8n asks of community nodes: its own two sets of rules, with those for n8n Cloud.
import { configs } from '@n8n/eslint-plugin-community-nodes';
import nodesBase from 'eslint-plugin-n8n-nodes-base';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', 'package-lock.json', 'tsconfig.json'] },
  { files: ['**/*.ts'], extends: [tseslint.configs.recommended] },
  { files: ['package.json', 'credentials/**/*.ts', 'nodes/**/*.ts'], extends: [configs.recommended] },
  { plugins: { 'n8n-nodes-base': nodesBase } },
  {
    files: ['package.json'],
    languageOptions: { parser: tseslint.parser, parserOptions: { extraFileExtensions: ['.json'] } },
    rules: {
      ...nodesBase.configs.community.rules,
      // The package has the license of the project.
      'n8n-nodes-base/community-package-json-license-not-default': 'off',
    },
  },
  {
    files: ['credentials/**/*.ts'],
    rules: {
      ...nodesBase.configs.credentials.rules,
      // For the nodes of n8n itself, whose documentation has a name in place of an address.
      'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
    },
  },
  {
    files: ['nodes/**/*.ts'],
    rules: {
      ...nodesBase.configs.nodes.rules,
      // These know only the inputs and outputs of older versions of n8n, and that of n8n's own tool agrees.
      'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
      'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
      'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
    },
  },
);
