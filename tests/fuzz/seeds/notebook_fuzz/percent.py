# %% [markdown]
# # Title
# %% tags=["a"]
x = 1
