#!/usr/bin/env python
# coding: utf-8

# # A notebook

# In[1]:


try:
    get_ipython().run_line_magic("matplotlib", "inline")
except NameError:
    pass
import numpy as np


# In[2]:


weights = np.zeros(3)
x = np.random.default_rng(0).normal(size=(32, 3))
for step in range(10):
    weights -= 0.1 * x.T @ (x @ weights - x.sum(1)) / len(x)


# In[3]:


print("RESULT", weights.tolist())
